// The workers' part of checkpoints, as the scheduler asks for it, waits for it and hands it out again.
#include <algorithm>

#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SchedulerRanksTest : public HandFedScheduler {
 protected:
  void SetUp() override {
    HandFedScheduler::SetUp();
    options.checkpoint.folder = "/c";
    options.checkpoint.every_iterations = 10;
    options.checkpoint.limit = std::chrono::seconds(5);
    options.expel_after = std::chrono::seconds(3);
    options.suspect_after = std::chrono::seconds(1);
  }
  // The job runs, has a table, and its shards have written checkpoint 1.
  void BeginCheckpoint(const std::string& model = "bsp") {
    options.job.sync = model;
    StartNode();
    world.storage.RunAll();  // where checkpoints go on counting
    w0 = HelloWorker(0, 100);
    w1 = HelloWorker(1, 101);
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
    AckAll(1);
    Define(w0, 1, "t", 8);
    AckAll(2);
    world.storage.RunAll();
  }
  void ShardsWrite() {
    for (const ConnectionId id : {s0, s1})
      ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kCutReply, CutReplyOf(id, 10)).ok());
  }
  // The shard has written its one block into checkpoint 1.
  wire::pb::CutReply CutReplyOf(ConnectionId id, std::int64_t v_train) {
    const std::uint32_t shard = id == s0 ? 0 : 1;
    wire::pb::CutReply reply;
    reply.set_checkpoint(1);
    reply.set_file(ShardFileName(ShardId(shard)));
    reply.set_bytes(1000);
    wire::pb::CutBlock& block = *reply.add_blocks();
    block.set_block(shard);
    block.set_offset(44);
    block.set_bytes(100);
    block.set_v_train(v_train);
    block.set_term(1);
    world.storage.files["/c/checkpoint-00000001/" + reply.file()].resize(reply.bytes());
    return reply;
  }
  static wire::pb::RankState StateOf(std::uint64_t checkpoint, std::uint32_t rank) {
    wire::pb::RankState state;
    state.set_checkpoint(checkpoint);
    state.set_file(RankFileName(WorkerId(rank), Incarnation(1)));
    state.set_bytes(64);
    state.set_checksum(99 + rank);
    state.set_iteration(10);
    return state;
  }
  void Answer(ConnectionId id, const wire::pb::RankState& state, bool here = true) {
    if (here && !state.file().empty()) {
      world.storage.files["/c/checkpoint-00000001/" + state.file()].resize(state.bytes());
    }
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kRankState, state).ok());
    world.storage.RunAll();
  }
  void Report(ConnectionId id, std::int64_t iteration) {
    wire::pb::Report report;
    report.set_iteration(iteration);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kReport, report).ok());
  }
  // Another job begins from checkpoint 1, in which rank 0 has a state.
  void BeginAgainFromIt() {
    BeginCheckpoint();
    ShardsWrite();
    Answer(w0, StateOf(1, 0));
    wire::pb::RankState none;
    none.set_checkpoint(1);
    none.set_none(true);
    Answer(w1, none);
    ASSERT_TRUE(Published());
    node.reset();
    world.transport.sent.clear();
    options.checkpoint.resume = "/c/checkpoint-00000001";
    StartNode();
    world.storage.RunAll();
    w0 = HelloWorker(0, 300);
    w1 = HelloWorker(1, 301);
    s0 = HelloShard(0, 400);
    s1 = HelloShard(1, 401);
  }
  std::optional<Manifest> Published() {
    world.storage.RunAll();
    const auto found = world.storage.files.find("/c/checkpoint-00000001/manifest.json");
    if (found == world.storage.files.end()) return std::nullopt;
    const Result<Manifest> manifest =
        ReadManifest({reinterpret_cast<const char*>(found->second.data()), found->second.size()});
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    return manifest.ok() ? std::optional(*manifest) : std::nullopt;
  }
  static std::vector<std::uint32_t> Ranks(const Manifest& manifest) {
    std::vector<std::uint32_t> ranks;
    for (const ManifestRank& rank : manifest.ranks) ranks.push_back(rank.rank.value());
    return ranks;
  }
};

TEST_F(SchedulerRanksTest, WorkersHearOfACutAndTheManifestWaitsForTheirStates) {
  BeginCheckpoint();
  const auto cuts = Take<wire::pb::Cut>(w0, Kind::kCut);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].checkpoint(), 1U);
  EXPECT_EQ(cuts[0].iteration(), 10);
  EXPECT_TRUE(cuts[0].exact());
  EXPECT_EQ(cuts[0].folder(), "/c/checkpoint-00000001");
  ShardsWrite();
  EXPECT_FALSE(Published());
  Answer(w1, StateOf(1, 1));
  EXPECT_FALSE(Published());
  Answer(w0, StateOf(1, 0));
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_THAT(Ranks(*manifest), ElementsAre(0, 1));
  EXPECT_EQ(manifest->ranks[1].checksum, 100U);
  EXPECT_EQ(manifest->ranks[1].iteration, Iteration(10));
  EXPECT_EQ(manifest->ranks[1].file, "rank-001.1.state");
}

TEST_F(SchedulerRanksTest, StatesThatComeBeforeTheShardsWaitForThem) {
  BeginCheckpoint();
  Answer(w0, StateOf(1, 0));
  wire::pb::RankState none;
  none.set_checkpoint(1);
  none.set_none(true);
  Answer(w1, none);
  EXPECT_FALSE(Published());
  ShardsWrite();
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_THAT(Ranks(*manifest), ElementsAre(0)) << "one that has none holds up nobody";
}

TEST_F(SchedulerRanksTest, UnderImmediateOneIsBegunAtThePaceOfTheFastest) {
  BeginCheckpoint("asp");
  Report(w0, 9);
  Report(w1, 2);
  PassTime(std::chrono::seconds(2));
  EXPECT_THAT(Take<wire::pb::Cut>(s0, Kind::kCut), IsEmpty());
  Report(w0, 11);
  PassTime(std::chrono::seconds(1));
  EXPECT_THAT(Take<wire::pb::Cut>(s0, Kind::kCut), IsEmpty())
      << "not before the workers have given their states";
  const auto asked = Take<wire::pb::Cut>(w1, Kind::kCut);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_FALSE(asked[0].exact());
  EXPECT_EQ(asked[0].iteration(), 0) << "between any two iterations";
  NoStates(1);
  const auto cuts = Take<wire::pb::Cut>(s0, Kind::kCut);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_TRUE(cuts[0].soon()) << "no block waits for the slowest";
  ShardsWrite();
  ASSERT_TRUE(Published());
  for (const std::int64_t iteration : {20, 21}) {
    Report(w0, iteration);
    PassTime(std::chrono::seconds(1));
    EXPECT_EQ(Take<wire::pb::Cut>(w1, Kind::kCut).size(), iteration == 21 ? 1U : 0U) << iteration;
  }
}

TEST_F(SchedulerRanksTest, UnderImmediateOneThatIsWantedSoonTakesAnyPauseBetweenTwoIterations) {
  options.checkpoint.every_iterations = 0;
  options.checkpoint.every = std::chrono::seconds(1);
  BeginCheckpoint("asp");
  PassTime(std::chrono::seconds(3));
  const auto cuts = Take<wire::pb::Cut>(w1, Kind::kCut);
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(cuts[0].iteration(), 0);
}

TEST_F(SchedulerRanksTest, WhereWorkersLeaveIterationsOutEachGivesItsStateWhenItComesByNext) {
  options.job.rules = {"server=1 sync=drop:2"};
  BeginCheckpoint();
  const auto cuts = Take<wire::pb::Cut>(w1, Kind::kCut);
  ASSERT_EQ(cuts.size(), 1U) << "named ahead, as where nobody leaves any out";
  EXPECT_EQ(cuts[0].iteration(), 10);
  EXPECT_FALSE(cuts[0].exact());
  ShardsWrite();
  Answer(w0, StateOf(1, 0));
  wire::pb::RankState beyond = StateOf(1, 1);
  beyond.set_iteration(13);
  Answer(w1, beyond);
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_FALSE(manifest->consistent) << "worker 1 has done more than the blocks hold";
  EXPECT_EQ(manifest->iteration, Iteration(10));
  EXPECT_THAT(manifest->rules, ElementsAre("server=1 sync=drop:2"));
}

TEST_F(SchedulerRanksTest, WhereAllComeByTheCutIsConsistentThoughTheyMightNotHave) {
  BeginCheckpoint("drop:1");
  ShardsWrite();
  Answer(w0, StateOf(1, 0));
  Answer(w1, StateOf(1, 1));
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_TRUE(manifest->consistent);
}

TEST_F(SchedulerRanksTest, WhatARankHasAddedUpAndNotSentMakesACheckpointFuzzy) {
  BeginCheckpoint("drop:1");
  ShardsWrite();
  wire::pb::RankState lacking = StateOf(1, 0);
  lacking.set_lacks(true);
  Answer(w0, lacking);
  Answer(w1, StateOf(1, 1));
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_FALSE(manifest->consistent);
}

TEST_F(SchedulerRanksTest, TheModelInForceSaysWhatKindOfMomentACutIs) {
  BeginCheckpoint("asp");
  EXPECT_THAT(Take<wire::pb::Cut>(w0, Kind::kCut), IsEmpty());
  wire::pb::SetSync rule;
  rule.set_request(1);
  rule.set_rule("sync=bsp");
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kSetSync, rule).ok());
  AckAll(3);
  PassTime(std::chrono::seconds(1));
  const auto cuts = Take<wire::pb::Cut>(w0, Kind::kCut);
  ASSERT_EQ(cuts.size(), 1U) << "named ahead from now on";
  EXPECT_TRUE(cuts[0].exact());
  EXPECT_EQ(cuts[0].iteration(), 10);
}

TEST_F(SchedulerRanksTest, AStateOfAnotherIterationIsNoConsistentCut) {
  BeginCheckpoint("asp");
  Report(w0, 11);
  PassTime(std::chrono::seconds(1));
  ShardsWrite();  // which do not say that they are fuzzy
  Answer(w0, StateOf(1, 0));
  Answer(w1, StateOf(1, 1));
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_FALSE(manifest->consistent);
}

TEST_F(SchedulerRanksTest, AWorkerThatHasLeftIsAskedUntilItIsGone) {
  BeginCheckpoint();
  ShardsWrite();
  Answer(w0, StateOf(1, 0));
  Leave(w1);
  PassTime(std::chrono::seconds(1));
  EXPECT_FALSE(Published()) << "it may have passed the cut before it left";
  (void)world.transport.Lose(w1);
  world.transport.sent.clear();
  w1 = HelloWorker(1, 101);
  EXPECT_EQ(Take<wire::pb::Cut>(w1, Kind::kCut).size(), 1U);
  Answer(w1, StateOf(1, 1));
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_THAT(Ranks(*manifest), ElementsAre(0, 1));
}

TEST_F(SchedulerRanksTest, AWorkerThatHasSaidGoodbyeIsNotWaitedFor) {
  BeginCheckpoint();
  ShardsWrite();
  Answer(w0, StateOf(1, 0));
  Leave(w1);
  SayGoodbye(w1, StatusCode::kOk);
  PassTime(std::chrono::seconds(1));
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_THAT(Ranks(*manifest), ElementsAre(0));
}

TEST_F(SchedulerRanksTest, AWorkerThatDiesIsNotWaitedForAndWhatItWroteCounts) {
  BeginCheckpoint();
  Answer(w1, StateOf(1, 1));
  ShardsWrite();
  (void)world.transport.Lose(w0);
  PassTime(std::chrono::seconds(2));
  EXPECT_FALSE(Published()) << "it may come back";
  PassTime(std::chrono::seconds(2));
  EXPECT_FALSE(Published()) << "the shards have not said yet what they hold of it";
  AckAll(State()["epoch"]);
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_THAT(Ranks(*manifest), ElementsAre(1));
}

TEST_F(SchedulerRanksTest, OfAFuzzyCutEachRankBeginsWhereItsOwnPushesEnd) {
  BeginCheckpoint("asp");
  Report(w0, 11);
  PassTime(std::chrono::seconds(1));
  // One block each, of iterations 4 and 5.
  for (const auto& [shard, v_train, of_w0, of_w1] : {std::tuple(s0, 4, 20, 6), std::tuple(s1, 5, 18, 7)}) {
    wire::pb::CutReply reply = CutReplyOf(shard, v_train);
    reply.set_fuzzy(true);
    for (const auto& [worker, highest] : {std::pair(0, of_w0), std::pair(1, of_w1)}) {
      wire::pb::Held& held = *reply.add_held();
      held.set_worker(static_cast<std::uint32_t>(worker));
      held.set_incarnation(1);
      held.set_highest(highest);
      held.mutable_whole()->set_blocks(1);
      held.mutable_whole()->set_sum(highest);
    }
    ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kCutReply, reply).ok());
  }
  wire::pb::RankState ahead = StateOf(1, 1);
  ahead.set_iteration(9);
  Answer(w0, StateOf(1, 0));
  Answer(w1, ahead);
  const auto manifest = Published();
  ASSERT_TRUE(manifest);
  EXPECT_FALSE(manifest->exact);
  EXPECT_THAT(manifest->begins, ElementsAre(Iteration(21), Iteration(9))) << "the state of worker 1 is of 9";
  EXPECT_EQ(manifest->iteration, Iteration(21));
  EXPECT_EQ(manifest->lost, 2U + 3U)
      << "19 and 20 of worker 0; 7 and 8 of worker 1 in one block, 8 in the other";
}

TEST_F(SchedulerRanksTest, OneThatComesBackIsAskedAgainUnlessItHasAnswered) {
  BeginCheckpoint();
  Answer(w0, StateOf(1, 0));
  for (const ConnectionId id : {w0, w1}) (void)world.transport.Lose(id);
  world.transport.sent.clear();
  w0 = HelloWorker(0, 100);
  w1 = HelloWorker(1, 101);
  EXPECT_THAT(Take<wire::pb::Cut>(w0, Kind::kCut), IsEmpty());
  EXPECT_EQ(Take<wire::pb::Cut>(w1, Kind::kCut).size(), 1U);
}

TEST_F(SchedulerRanksTest, OneThatIsPastItMovesTheCutFurtherAhead) {
  BeginCheckpoint();
  world.transport.sent.clear();
  wire::pb::RankState late;
  late.set_checkpoint(1);
  late.set_late(25);
  Answer(w0, late);
  for (const ConnectionId id : {w0, w1, s0, s1}) {
    const auto cuts = Take<wire::pb::Cut>(id, Kind::kCut);
    ASSERT_EQ(cuts.size(), 1U);
    EXPECT_EQ(cuts[0].checkpoint(), 2U);
    EXPECT_GT(cuts[0].iteration(), 25);
  }
  Answer(w0, late);  // again, of the one before
  EXPECT_THAT(Take<wire::pb::Cut>(s0, Kind::kCut), IsEmpty());
}

TEST_F(SchedulerRanksTest, AStateThatCannotBeWrittenEndsTheCheckpointAndSaysWhose) {
  BeginCheckpoint();
  wire::pb::RankState failed;
  failed.set_checkpoint(1);
  failed.set_error("no room left");
  Answer(w1, failed);
  EXPECT_THAT(world.log.lines, ::testing::Contains(HasSubstr("given up: worker 1: no room left")));
}

TEST_F(SchedulerRanksTest, AStateThatIsInAnotherFolderThanTheSchedulersEndsTheCheckpoint) {
  BeginCheckpoint();
  ShardsWrite();
  Answer(w0, StateOf(1, 0));
  Answer(w1, StateOf(1, 1), /*here=*/false);
  EXPECT_FALSE(Published());
  EXPECT_THAT(world.log.lines,
              ::testing::Contains(HasSubstr("rank-001.1.state: got no such file, wanted 64")));
}

TEST_F(SchedulerRanksTest, OneThatNeverAnswersIsNamedWhenTheCheckpointIsGivenUp) {
  BeginCheckpoint();
  ShardsWrite();
  Answer(w0, StateOf(1, 0));
  PassTime(std::chrono::seconds(7));
  EXPECT_FALSE(Published());
  EXPECT_THAT(world.log.lines, ::testing::Contains(HasSubstr("missing the state of worker 1")));
}

TEST_F(SchedulerRanksTest, AJobThatBeginsFromItTellsEachRankWhereItsStateIs) {
  BeginAgainFromIt();
  const auto rosters = Take<wire::pb::Roster>(w0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  ASSERT_EQ(rosters[0].members_size(), 2);
  EXPECT_EQ(rosters[0].members(0).restore().file(), "/c/checkpoint-00000001/rank-000.1.state");
  EXPECT_EQ(rosters[0].members(0).restore().checksum(), 99U);
  EXPECT_FALSE(rosters[0].members(1).has_restore());
  AckAll(1);
  // One that comes to the running job begins where that is: the state would be of another time.
  SayGoodbye(w0, StatusCode::kUnavailable);
  w0 = HelloWorker(0, 302);
  for (const wire::pb::Roster& roster : Take<wire::pb::Roster>(w1, Kind::kRoster)) {
    EXPECT_EQ(roster.members(0).has_restore(), roster.members(0).incarnation() < 3);
  }
}

TEST_F(SchedulerRanksTest, AReplacedServerMovesACutThatNobodyHasComeToNoFurtherAhead) {
  BeginAgainFromIt();
  const auto cut = [this] {
    const auto cuts = Take<wire::pb::Cut>(s0, Kind::kCut);
    return cuts.empty() ? wire::pb::Cut() : cuts.back();
  };
  AckAll(1);
  world.storage.RunAll();
  world.Advance(std::chrono::seconds(1));  // the next look
  const wire::pb::Cut before = cut();
  ASSERT_GT(before.iteration(), 0);
  SayGoodbye(s1, StatusCode::kInternal);
  s1 = HelloShard(1, 402);
  ASSERT_EQ(welcome.error(), "");
  AckAll(2);
  world.Advance(std::chrono::seconds(1));
  const wire::pb::Cut after = cut();
  EXPECT_GT(after.checkpoint(), before.checkpoint());
  EXPECT_EQ(after.iteration(), before.iteration());
}

TEST_F(SchedulerRanksTest, BeforeItHasACheckpointOfItsOwnALostServersBlocksBeginAgainAsTheJobDid) {
  BeginAgainFromIt();
  const auto told = [this] {
    for (const wire::pb::TableMap& map : Take<wire::pb::TableMap>(s1, Kind::kTableMap)) {
      if (map.tables_size() > 0) return map.tables(0).blocks(1);
    }
    return wire::pb::Block();
  };
  const wire::pb::Block began = told();
  ASSERT_TRUE(began.restore().rebase());
  ASSERT_EQ(began.restore().start(), 10);
  AckAll(1);
  SayGoodbye(s1, StatusCode::kInternal);
  s1 = HelloShard(1, 402);
  ASSERT_EQ(welcome.error(), "");
  const wire::pb::Block again = told();
  EXPECT_EQ(again.term(), began.term() + 1);
  EXPECT_TRUE(again.restore().patch());
  EXPECT_TRUE(again.restore().rebase()) << "its record is of an earlier run, with other lives";
  EXPECT_EQ(again.restore().start(), 10);
  EXPECT_EQ(again.restore().file(), "/c/checkpoint-00000001/shard-001.lwc");
}

}  // namespace
}  // namespace leeway::testing
