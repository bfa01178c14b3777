#include "node/server/shard_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/server/testing/hand_fed_blocks.h"
#include "wire/frame.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShardReportsTest : public ::testing::Test {
 protected:
  wire::pb::Report Make(const ShardTraffic& traffic = {}) {
    return reports.Make(blocks.store, traffic, world.log);
  }

  FakeEnv world;
  HandFedBlocks blocks{world};
  ShardReports reports;
};

TEST_F(ShardReportsTest, CountsFramesThatComeAndTakesTheTrafficOfOtherParts) {
  reports.NoteFrame({.kind = 1, .body_bytes = 10, .payload_bytes = 100});
  reports.NoteFrame({.kind = 1, .body_bytes = 5});
  const wire::pb::Report report = Make({.bytes_out = 70, .moved = 3, .no_memory = 2});
  const auto& values = report.values();
  EXPECT_EQ(values.at("frames_in"), 2);
  EXPECT_EQ(values.at("bytes_in"), 115 + 2 * wire::kHeaderBytes);
  EXPECT_EQ(values.at("bytes_out"), 70);
  EXPECT_EQ(values.at("moved"), 3);
  EXPECT_EQ(values.at("no_memory"), 2);
  EXPECT_EQ(values.at("reports"), 1);
  EXPECT_EQ(Make().values().at("reports"), 2);
}

TEST_F(ShardReportsTest, CountsADelayOnceForAShardAndOnceForEachTable) {
  blocks.Make("bsp", 2);
  for (int i = 0; i < 2; ++i) reports.NoteDelay(TableId(0), LifeOf(1), Iteration(4));
  reports.NoteDelay(TableId(5), LifeOf(1), Iteration(4));
  reports.NoteDelay(TableId(5), LifeOf(1), Iteration(5));
  const wire::pb::Report report = Make();
  EXPECT_EQ(report.values().at("dpr"), 2);
  EXPECT_EQ(report.values().at("dpr.1"), 2);
  ASSERT_EQ(report.tables_size(), 1);
  EXPECT_EQ(report.tables(0).dpr(), 1U);
}

TEST_F(ShardReportsTest, CountsHowStaleGradientsAre) {
  reports.NoteStaleness(WorkerId(2), 3);
  reports.NoteStaleness(WorkerId(2), 4);
  const wire::pb::Report report = Make();
  EXPECT_EQ(report.values().at("staleness_sum"), 7);
  EXPECT_EQ(report.values().at("staleness_gradients.2"), 2);
}

TEST_F(ShardReportsTest, SaysWhatTheFirstBlockThatHoldsSomebodyUpWaitsFor) {
  blocks.Make("bsp", 2);
  blocks.Initialize();
  const std::vector<MemberState> members{{.key = LifeOf(0)}, {.key = LifeOf(1)}};
  for (const auto& block : blocks.store.all()) block->OnMembers(Epoch(1), members, world.clock.now);
  EXPECT_EQ(Make().waiting_for(), "");
  blocks.At(1).OnPull({.from = LifeOf(0), .term = Term(1), .progress = Iteration(0)}, world.clock.now);
  const wire::pb::Report report = Make();
  EXPECT_EQ(report.waiting_for(), blocks.At(1).WhyWaiting());
  EXPECT_EQ(report.values().at("waiting"), 1);
  EXPECT_EQ(report.values().at("blocks"), 2);
  EXPECT_EQ(report.values().at("values_bytes"), 16);
}

TEST_F(ShardReportsTest, LogsOnceWhatGoesWrongInABlock) {
  blocks.Make("bsp", 1);
  blocks.Initialize();
  const std::vector<MemberState> members{{.key = LifeOf(0)}, {.key = LifeOf(1)}};
  blocks.At(0).OnMembers(Epoch(1), members, world.clock.now);
  for (const std::uint32_t worker : {0U, 1U}) {
    PushEvent push{.from = LifeOf(worker), .term = Term(1), .seq = Seq(1), .base_version = Version(1)};
    push.hyper.lr = worker == 0 ? 0.1F : 0.2F;
    BufferRef gradient = blocks.pool.Take(2);
    std::ranges::fill(gradient->floats(), 1.0F);
    blocks.At(0).OnPush(push, std::move(gradient), world.clock.now);
  }
  (void)Make();
  (void)Make();
  EXPECT_THAT(world.log.lines, ElementsAre(HasSubstr("workers pushed different hyper-parameters")));
}

}  // namespace
}  // namespace leeway::testing
