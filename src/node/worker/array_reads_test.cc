#include "node/worker/array_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "base/errors.h"
#include "base/heap_arena.h"
#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A table of two blocks on one shard, which is connected.
class ArrayReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    self.worker = WorkerId(1);
    self.incarnation = Incarnation(1);
    ports.Add(links.Make(1, "server"), 0);
    to = links.Connect(ports.At(0).link());
    (void)*tables.Create({.name = "w", .shape = {4}}, pair);
    table = tables.TakeCreated().at(0);
    wire::pb::Table map;
    map.set_name("w");
    for (std::uint32_t id = 0; id < 2; ++id) {
      wire::pb::Block* block = map.add_blocks();
      block->set_block(id);
      block->set_term(1);
      block->set_since(1);
      block->set_offset(id * 2);
      block->set_elements(2);
    }
    ASSERT_TRUE(TableSet::Place(*table, map, 1).ok());
    tables.Index(*table);
    env.transport.sent.clear();
  }
  void Begin(ArraysWanted what) {
    reads.Begin(
        *table, what,
        [this](const Status& status, const TableState& state) {
          told = status;
          arrays = state.arrays;
        },
        env.clock.now);
  }
  // The blocks that were asked for since the last call.
  std::vector<std::uint32_t> Asked() {
    reads.Send(ports);
    std::vector<std::uint32_t> blocks;
    for (const testing::SentFrame& frame : env.transport.TakeSent(to, wire::Kind::kRead)) {
      for (const auto& entry : testing::DecodeAs<wire::Read>(frame).entries)
        blocks.push_back(entry.block.value());
    }
    return blocks;
  }
  // The shard answers the first read with the values of one block.
  Status Answer(std::uint32_t block, std::vector<float> values, std::uint64_t version = 1) {
    wire::Arrays answer;
    answer.worker = WorkerId(1);
    answer.incarnation = Incarnation(1);
    answer.request = 1;
    wire::ArraysEntry entry;
    entry.block = BlockId(block);
    entry.term = Term(1);
    entry.version = Version(version);
    entry.arrays = values.empty() ? 0 : 1;
    entry.payload_bytes = static_cast<std::uint32_t>(values.size() * sizeof(float));
    answer.entries.push_back(entry);
    std::vector<std::byte> body;
    wire::Encode(answer, body);
    if (!values.empty()) {
      LW_ASSIGN_OR_RETURN(const Landing landing, reads.Land(tables, body, entry.payload_bytes));
      std::memcpy(landing.places.at(0).data(), values.data(), entry.payload_bytes);
    }
    const Status taken = reads.OnArrays(ShardId(0), tables, answer);
    due.Run();
    return taken;
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  DueCallbacks due;
  WorkerCounters counters;
  WorkerIdentity self;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  ConnectionId to;
  HeapArena arena;
  ParameterPair pair{4, nullptr, nullptr};
  TableSet tables{arena};
  ArrayReads reads{self, counters, due};
  WorkerTable* table = nullptr;
  std::optional<Status> told;
  std::vector<std::vector<float>> arrays;
};

TEST_F(ArrayReadsTest, EachBlockIsAskedForOnceOnAConnection) {
  Begin(ArraysWanted::kValues);
  EXPECT_THAT(Asked(), ElementsAre(0U, 1U));
  EXPECT_THAT(Asked(), IsEmpty());
  reads.Unsend(table->blocks[1]);
  EXPECT_THAT(Asked(), ElementsAre(1U));
  reads.Unsend(ShardId(0));
  EXPECT_THAT(Asked(), ElementsAre(0U, 1U));
}

TEST_F(ArrayReadsTest, AReadIsDoneOnceAllBlocksAreHere) {
  Begin(ArraysWanted::kValues);
  (void)Asked();
  ASSERT_TRUE(Answer(1, {3, 4}).ok());
  EXPECT_FALSE(told.has_value());
  EXPECT_EQ(reads.FirstOpen(), &table->blocks[0]);
  ASSERT_TRUE(Answer(0, {1, 2}).ok());
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->ok());
  EXPECT_THAT(arrays, ElementsAre(ElementsAre(1, 2, 3, 4)));
  EXPECT_TRUE(reads.empty());
}

TEST_F(ArrayReadsTest, ATableWithoutInitialValuesIsAnError) {
  Begin(ArraysWanted::kValues);
  ASSERT_TRUE(Answer(0, {}, 0).ok());
  ASSERT_TRUE(Answer(1, {}, 0).ok());
  ASSERT_TRUE(told.has_value());
  EXPECT_THAT(told->message(), HasSubstr("has no initial values yet"));
}

TEST_F(ArrayReadsTest, ArraysThatNobodyWaitsForLandNowhere) {
  EXPECT_TRUE(Answer(0, {1, 2}).ok());
  EXPECT_FALSE(told.has_value());
  Begin(ArraysWanted::kValues);
  EXPECT_THAT(Answer(0, {1, 2, 3}).message(), HasSubstr("wanted the values of a block of 8 bytes"));
}

TEST_F(ArrayReadsTest, AWorkerThatFailsEndsItsReads) {
  Begin(ArraysWanted::kState);
  reads.FailAll(Unavailable("gone"));
  due.Run();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->message(), "gone");
  EXPECT_TRUE(reads.empty());
}

}  // namespace
}  // namespace leeway
