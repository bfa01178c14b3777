#include "node/worker/array_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

// A table of one block, on a shard that is not connected.
class ArrayWritesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ports.Add(links.Make(1, "server"), 0);
    wire::pb::Table map;
    map.set_name("w");
    map.add_blocks()->set_elements(2);
    ASSERT_TRUE(table.Place(map, 1).ok());
    table.blocks[0].model = std::make_shared<BlockModel>();
    ports.At(0).AddBlock(table.blocks[0]);
  }
  Status Broadcast(std::span<const float> offer) {
    Done done = [this](const Status& status) { told = status; };
    return writes.Broadcast(table, {offer, nullptr, {}, 1}, done, loans, ports);
  }
  Status Assign(std::span<const float> offer, std::int64_t iteration) {
    Done done = [this](const Status& status) { told = status; };
    return writes.Assign(table, {}, {offer, nullptr, {}, 1}, done, Iteration(iteration), 0, loans, ports);
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  DueCallbacks due;
  WorkerCounters counters;
  WorkerIdentity self;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  PushLoans loans{env.timers, due, counters, [] {}};
  int freed = 0;
  ArrayWrites writes{env.arena, [this](WorkerTable&) { ++freed; }};
  ParameterPair pair{2, nullptr, nullptr};
  BufferPool pool{1 << 20};
  WorkerTable table{TableId(0), {.name = "w", .shape = {2}}, pair, pool};
  const std::vector<float> values{1, 2};
  std::optional<Status> told;
};

TEST_F(ArrayWritesTest, ABroadcastIsOpenUntilEveryBlockHasItsValues) {
  ASSERT_TRUE(Broadcast(values).ok());
  EXPECT_EQ(writes.open(), 1U);
  EXPECT_EQ(table.blocks[0].init->gradient.values.data(), values.data()) << "no copy";
  EXPECT_THAT(Broadcast(values).message(), HasSubstr("a broadcast is still under way"));
  writes.OnInitialized(table.blocks[0], false, loans);
  writes.OnInitialized(table.blocks[0], false, loans);  // said twice
  EXPECT_EQ(writes.open(), 0U);
  EXPECT_EQ(table.blocks[0].seen, table.blocks[0].term);
  due.Run();
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->ok());
}

TEST_F(ArrayWritesTest, SizesAndClocksAreChecked) {
  const std::vector<float> three(3);
  EXPECT_THAT(Broadcast(three).message(), HasSubstr("got 3 initial values, wanted 2"));
  EXPECT_THAT(Assign(three, 0).message(), HasSubstr("got 3 values to set, wanted 2"));
  table.pushed = Iteration(4);
  EXPECT_THAT(Assign(values, 4).message(), HasSubstr("has pushed its gradient of iteration 4"));
  EXPECT_TRUE(Assign(values, 5).ok());
  EXPECT_EQ(table.blocks[0].pushes.front().iteration, Iteration(5));
  EXPECT_TRUE(table.blocks[0].pushes.front().lent->assigns.has_value());
}

TEST_F(ArrayWritesTest, AnOfferThatLiesInTheFrontBufferKeepsItInPlaceUntilItsEnd) {
  ASSERT_TRUE(Broadcast(pair.Front()).ok());
  EXPECT_EQ(table.front_lent, 1U);
  EXPECT_EQ(table.blocks[0].init->gradient.values.data(), pair.Front().data());
  writes.OnInitialized(table.blocks[0], false, loans);
  due.Run();
  EXPECT_EQ(table.front_lent, 0U);
  EXPECT_EQ(freed, 1);
  EXPECT_TRUE(told.has_value());
}

TEST_F(ArrayWritesTest, AnOfferThatMayBeWrittenOverIsCopied) {
  pair.Publish(Iteration(0));  // a version waits in the back to be taken
  ASSERT_TRUE(Broadcast(pair.Front()).ok());
  EXPECT_EQ(table.front_lent, 0U);
  EXPECT_NE(table.blocks[0].init->gradient.values.data(), pair.Front().data());
}

}  // namespace
}  // namespace leeway
