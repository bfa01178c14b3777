#include "node/worker/own_pulls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

class OwnPullsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ports.Add(links.Make(1, "server"), 0);
    wire::pb::Table map;
    map.set_name("c");
    map.add_blocks()->set_elements(2);
    ASSERT_TRUE(table.Place(map, 1).ok());
    ports.At(0).AddBlock(table.blocks[0]);
  }
  void Begin(std::int64_t progress) {
    pulls.Begin(
        table, into, Iteration(progress), [this](const Status& status) { told.push_back(status); }, ports);
  }
  void Answer(bool has_values) {
    pulls.OnAnswer(table, has_values, ports);
    due.Run();
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  DueCallbacks due;
  WorkerCounters counters;
  WorkerIdentity self;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  OwnPulls pulls{env.clock, due};
  ParameterPair pair{2, nullptr, nullptr};
  BufferPool pool{1 << 20};
  WorkerTable table{TableId(0), {.name = "c", .shape = {2}, .clock = TableClock::kOwn}, pair, pool};
  std::vector<float> into = std::vector<float>(2);
  std::vector<Status> told;
};

TEST_F(OwnPullsTest, OnePullOfATableIsUnderWayAtATime) {
  Begin(3);
  Begin(5);
  EXPECT_EQ(table.blocks[0].pull.progress(), Iteration(3));
  Answer(true);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].ok());
  EXPECT_EQ(table.blocks[0].pull.progress(), Iteration(5));
  Answer(true);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_TRUE(table.into.empty());
}

TEST_F(OwnPullsTest, ATableThatNeverGotValuesIsAnError) {
  Begin(0);
  Answer(false);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("table \"c\" never got initial values"));
}

}  // namespace
}  // namespace leeway
