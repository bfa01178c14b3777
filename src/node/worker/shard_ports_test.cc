#include "node/worker/shard_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

// A table of two blocks, one on each of two shards that are connected.
class ShardPortsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    self.worker = WorkerId(1);
    self.incarnation = Incarnation(1);
    links.on_up = [this](std::uint32_t link) { ports.OnUp(link - 1); };
    for (std::uint32_t i = 0; i < 2; ++i) {
      ports.Add(links.Make(i + 1, "server"), 10 + i);
      EXPECT_FALSE(ports.AllUp());
      to[i] = links.Connect(ports.At(i).link());
    }
    wire::pb::Table map;
    map.set_name("w");
    for (std::uint32_t id = 0; id < 2; ++id) {
      wire::pb::Block* block = map.add_blocks();
      block->set_block(id);
      block->set_shard(id);
      block->set_term(1);
      block->set_since(1);
      block->set_offset(id * 2);
      block->set_elements(2);
    }
    ASSERT_TRUE(table.Place(map, 2).ok());
    for (WorkerBlock& block : table.blocks) ports.Of(block).AddBlock(block);
    env.transport.sent.clear();
  }
  std::vector<wire::Kind> Sent(std::size_t shard) {
    std::vector<wire::Kind> kinds;
    for (const testing::SentFrame& frame : env.transport.TakeSent(to[shard])) kinds.push_back(frame.kind);
    return kinds;
  }
  void Push(std::int64_t iteration) {
    auto lent = std::make_shared<LentPush>();
    lent->iteration = Iteration(iteration);
    lent->gradient.values = values;
    ports.Push(table, std::move(lent));
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  WorkerIdentity self;
  WorkerCounters counters;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  ConnectionId to[2];
  ParameterPair pair{4, nullptr, nullptr};
  BufferPool pool{1 << 20};
  WorkerTable table{TableId(0), {.name = "w", .shape = {4}}, pair, pool};
  const std::vector<float> values{1, 2, 3, 4};
};

TEST_F(ShardPortsTest, EachBlockGoesToItsOwnShard) {
  EXPECT_TRUE(ports.AllUp());
  EXPECT_THAT(ports.servers(), ElementsAre(10U, 11U));
  Push(0);
  ports.Pull(table, Iteration(0), env.clock.now);
  EXPECT_THAT(Sent(0), ElementsAre()) << "until Flush";
  ports.Flush();
  for (const std::size_t shard : {0U, 1U}) {
    EXPECT_THAT(Sent(shard), ElementsAre(wire::Kind::kPush, wire::Kind::kPull)) << shard;
  }
}

TEST_F(ShardPortsTest, WhatABatchOfCallsHasToSendGoesOutAtItsEnd) {
  ports.BeginCalls();
  Push(0);
  ports.Flush();
  EXPECT_THAT(Sent(0), ElementsAre());
  ports.EndCalls();
  EXPECT_THAT(Sent(0), ElementsAre(wire::Kind::kPush));
  ports.BeginCalls();
  ports.EndCalls();
  EXPECT_THAT(Sent(0), ElementsAre());
}

TEST_F(ShardPortsTest, PushesAndAbsencesCountUntilTheirVerdicts) {
  Push(0);
  ports.MarkAbsent(table, Iteration(1));
  ports.Flush();
  EXPECT_EQ(ports.unsettled(), 4U);
  WorkerBlock& block = table.blocks[0];
  EXPECT_TRUE(ports.Settle(ports.At(0), block, Seq(1))->has_value());
  EXPECT_EQ(ports.unsettled(), 3U);
  EXPECT_FALSE(ports.Settle(ports.At(0), block, Seq(1))->has_value()) << "said twice";
  EXPECT_EQ(ports.unsettled(), 3U);
}

TEST_F(ShardPortsTest, ANewConnectionIsCountedAndGetsWhatHasNoVerdict) {
  EXPECT_EQ(counters.connected_over.at("tcp"), 2U);
  Push(0);
  ports.Flush();
  (void)Sent(0);
  ports.OnUp(0);
  EXPECT_EQ(counters.reconnects, 1U);
  EXPECT_THAT(Sent(0), ElementsAre(wire::Kind::kPush));
}

}  // namespace
}  // namespace leeway
