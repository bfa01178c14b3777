#include "node/scheduler/cut_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A table of two blocks on the job's clock, and two workers in their first lives.
class CutManifestTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kFirstLife = 1;

  void SetUp() override {
    job.Define("t");
    ASSERT_THAT(job.tables.all()[0].map.blocks(), SizeIs(2));
    cut.set_checkpoint(7);
    cut.set_iteration(10);
    ranks.Begin(cut, RankStates::Moment::kNearby);
  }
  // The shard has written its blocks; fuzzy: each as it was, in iteration `v_train`.
  void Write(std::uint32_t shard, std::int64_t v_train, bool fuzzy = true) {
    wire::pb::CutReply& reply = replies[ShardId(shard)];
    reply.set_file("shard-" + std::to_string(shard));
    reply.set_fuzzy(fuzzy);
    for (const wire::pb::Block& block : job.tables.all()[0].map.blocks()) {
      if (block.shard() != shard) continue;
      wire::pb::CutBlock& written = *reply.add_blocks();
      written.set_block(block.block());
      written.set_v_train(v_train);
    }
  }
  // A block of the shard holds pushes of the rank's first life up to iteration `highest`; -1: none.
  void Hold(std::uint32_t shard, std::uint32_t rank, std::int64_t highest) {
    wire::pb::Held& held = *replies[ShardId(shard)].add_held();
    held.set_worker(rank);
    held.set_incarnation(kFirstLife);
    held.set_highest(highest);
    wire::pb::HeldBlocks& whole = *held.mutable_whole();
    if (highest < 0) return whole.set_silent(1);
    whole.set_blocks(1);
    whole.set_sum(highest);
  }
  static MemberKey FirstLifeOf(std::uint32_t rank) { return {WorkerId(rank), Incarnation(kFirstLife)}; }
  // The first life of the rank did the iterations below `end`, and all of its verdicts are known.
  void EndFirstLife(std::uint32_t rank, std::int64_t end) {
    ended.Add(FirstLifeOf(rank), Iteration(0), Iteration(end));
    (void)ended.Settle(FirstLifeOf(rank));
  }
  // The first life is dead, and another one takes its seat.
  void BeginNextLife(std::uint32_t rank, std::int64_t first) {
    WorkerSeat& seat = job.members.workers()[rank];
    job.members.Die(seat, Epoch(2));
    seat.connection = {};
    wire::pb::Hello hello;
    hello.set_rank(rank);
    hello.set_life(2000);
    const auto admitted = job.members.AdmitWorker(hello, ConnectionId(300), {});
    ASSERT_TRUE(admitted.ok()) << admitted.status().ToString();
    job.members.Enter(admitted->seat, Epoch(3), Iteration(first));
  }
  [[nodiscard]] Result<Manifest> Build() const {
    return BuildManifest(
        {job.options, Epoch(2), Iteration(9), job.members, job.tables, pools, ended, lacking, reports},
        {cut, replies, ranks, settled});
  }

  testing::HandFedJob job;
  BatchPools pools;
  EndedLives ended;
  HeldPushes::Lacking lacking;
  Reports reports;
  wire::pb::Cut cut;
  std::map<ShardId, wire::pb::CutReply> replies;
  RankStates ranks;
  std::map<MemberKey, Iteration> settled;
};

TEST_F(CutManifestTest, FromAnExactCutAllRanksBeginAtItsIteration) {
  lacking = {.lost = 3, .torn = 2};
  Write(0, 10, false);
  Write(1, 10, false);
  Hold(0, 0, 12);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_TRUE(manifest->exact);
  EXPECT_TRUE(manifest->consistent);
  EXPECT_EQ(manifest->iteration, Iteration(10));
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(10), Iteration(10)));
  EXPECT_EQ(manifest->lost, 3U);
  EXPECT_EQ(manifest->torn, 2U);
}

TEST_F(CutManifestTest, FromAFuzzyCutEachRankBeginsAfterItsLastPushAndBelowNoBlock) {
  Write(0, 4);
  Write(1, 5);
  Hold(0, 0, 6);
  Hold(1, 0, 5);
  Hold(0, 1, 3);
  Hold(1, 1, 3);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_FALSE(manifest->exact);
  EXPECT_FALSE(manifest->consistent);
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(7), Iteration(5)));
  EXPECT_EQ(manifest->iteration, Iteration(7));
  EXPECT_EQ(manifest->lost, 1U) << "a block lacks iteration 6 of rank 0";
}

TEST_F(CutManifestTest, OneFuzzyShardMakesTheCutFuzzy) {
  Write(0, 10, false);
  Write(1, 5, true);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_FALSE(manifest->exact);
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(10), Iteration(10)));
}

TEST_F(CutManifestTest, ARankDoesNotRepeatPushesThatItsStateKnows) {
  Write(0, 4);
  Write(1, 4);
  Hold(0, 1, 3);
  Hold(1, 1, 3);
  wire::pb::RankState state;
  state.set_checkpoint(7);
  state.set_file("rank-1");
  state.set_iteration(9);
  EXPECT_EQ(ranks.Take(job.members.workers()[1], state), RankStates::Step::kTaken);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(4), Iteration(9)));
  EXPECT_EQ(manifest->lost, 10U) << "two blocks lack iterations 4 to 8";
}

TEST_F(CutManifestTest, ARankDoesNotRepeatPushesThatHadVerdictsBeforeTheCut) {
  Write(0, 4);
  Write(1, 4);
  Hold(0, 1, 3);
  Hold(1, 1, 3);
  settled[FirstLifeOf(1)] = Iteration(6);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(4), Iteration(6)));
  EXPECT_EQ(manifest->lost, 4U) << "two blocks lack iterations 4 and 5";
}

TEST_F(CutManifestTest, OfALifeThatEndedMeanwhileAShardThatForgotItHoldsAll) {
  Write(0, 4);
  Write(1, 4);
  Hold(0, 0, 5);  // before the end of the life; shard 1 wrote afterwards
  EndFirstLife(0, 9);
  BeginNextLife(0, 12);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(9), Iteration(4)));
  EXPECT_EQ(manifest->lost, 3U) << "the block of shard 0 lacks iterations 6 to 8";
  EXPECT_THAT(manifest->incarnations, ElementsAre(Incarnation(2), Incarnation(1)));
}

TEST_F(CutManifestTest, OfALifeThatEndedMeanwhileBlocksThatAllKnowItSayHowFarItCame) {
  Write(0, 4);
  Write(1, 4);
  Hold(0, 0, 5);
  Hold(1, 0, 4);
  EndFirstLife(0, 9);
  BeginNextLife(0, 12);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(6), Iteration(4)));
  EXPECT_EQ(manifest->lost, 1U) << "the block of shard 1 lacks iteration 5";
}

TEST_F(CutManifestTest, OfALifeThatEndedMeanwhileABlockWithoutItsPushesLacksThemAll) {
  Write(0, 4);
  Write(1, 4);
  Hold(0, 0, 5);
  Hold(1, 0, -1);
  EndFirstLife(0, 9);
  BeginNextLife(0, 12);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->lost, 6U) << "the block of shard 1 lacks iterations 0 to 5";
}

TEST_F(CutManifestTest, PushesOfALifeThatEndedBeforeTheCutAreNotCountedTwice) {
  EndFirstLife(0, 6);
  ended.OnCutBegun();
  lacking = {.lost = 0, .torn = 2};  // as counted when the life was settled
  Write(0, 4);
  Write(1, 4);
  Hold(0, 0, 5);
  Hold(1, 0, 3);
  const Result<Manifest> manifest = Build();
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(6), Iteration(4)));
  EXPECT_EQ(manifest->lost, 0U);
  EXPECT_EQ(manifest->torn, 2U);
}

TEST_F(CutManifestTest, ATableThatWasMadeMeanwhileIsAnError) {
  Write(0, 10, false);
  Write(1, 10, false);
  job.Define("later");
  const Result<Manifest> manifest = Build();
  ASSERT_FALSE(manifest.ok());
  EXPECT_THAT(manifest.status().message(), HasSubstr("of table \"later\" is not in it"));
}

}  // namespace
}  // namespace leeway
