// Also built against each deliberately broken ledger (tests/contract/CMakeLists.txt), where these tests must
// fail.
#include "block/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Ledger::Decision::Kind;

MemberKey LedgerLife(std::uint32_t worker, std::uint32_t life = 1) {
  return {WorkerId(worker), Incarnation(life)};
}

TEST(LedgerTest, OnlyTheNextSequenceIsTaken) {
  Ledger ledger;
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(1)).kind, Kind::kTake);
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(2)).kind, Kind::kGap);
  ledger.Record(LedgerLife(0), Seq(1), Verdict::kSummed);
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(2)).kind, Kind::kTake);
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(3)).kind, Kind::kGap);
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(3)).last, Seq(1));
  EXPECT_EQ(ledger.Decide(LedgerLife(1), Seq(1)).kind, Kind::kTake) << "each worker has its own sequence";
}

TEST(LedgerTest, TheLastFourVerdictsAreGivenAgain) {
  Ledger ledger;
  const std::vector<Verdict> given = {Verdict::kApplied, Verdict::kAbsent, Verdict::kRefused,
                                      Verdict::kLateDropped, Verdict::kSummed};
  for (std::size_t i = 0; i < given.size(); ++i) ledger.Record(LedgerLife(0), Seq(i + 1), given[i]);
  for (std::size_t seq = 2; seq <= 5; ++seq) {
    const Ledger::Decision decision = ledger.Decide(LedgerLife(0), Seq(seq));
    EXPECT_EQ(decision.kind, Kind::kRepeat) << seq;
    EXPECT_EQ(decision.verdict, given[seq - 1]) << seq;
  }
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(1)).kind, Kind::kForgotten);
  EXPECT_EQ(ledger.Decide(LedgerLife(0), Seq(0)).kind, Kind::kForgotten);
}

TEST(LedgerTest, AHigherIncarnationStartsAtOneAndFencesTheLower) {
  Ledger ledger;
  ledger.Record(LedgerLife(0), Seq(1), Verdict::kSummed);
  EXPECT_EQ(ledger.Decide(LedgerLife(0, 2), Seq(2)).kind, Kind::kGap);
  EXPECT_EQ(ledger.Decide(LedgerLife(0, 2), Seq(1)).kind, Kind::kTake);
  ledger.Admit(LedgerLife(0, 2));
  EXPECT_EQ(ledger.Decide(LedgerLife(0, 1), Seq(1)).kind, Kind::kFenced);
  EXPECT_EQ(ledger.Decide(LedgerLife(0, 1), Seq(2)).kind, Kind::kFenced);
  EXPECT_EQ(ledger.Decide(LedgerLife(0, 2), Seq(1)).kind, Kind::kTake);
}

TEST(LedgerTest, ARepeatedPushGetsItsVerdictAgainAndAddsNothing) {
  for (const char* apply : {"immediate", "aggregate"}) {
    HandFedBlock block({.apply = apply});
    block.Begin(1);
    block.Push(0, 0);
    block.Forget();
    block.PushSeq(0, 1, 0);
    block.PushSeq(0, 1, 0);
    const std::string again = std::string(apply) == "immediate" ? "APPLIED 0#1 v1" : "SUMMED 0#1 v1";
    EXPECT_THAT(block.Heard(), ElementsAre(again, again)) << apply;
    EXPECT_THAT(block.values(), ElementsAre(1.0F, 1.0F)) << apply;
    EXPECT_EQ(block->version(), Version(2)) << apply;
    EXPECT_EQ(block->counters().repeated, 2U);
  }
}

TEST(LedgerTest, APushBeforeItsTurnGetsGapAndChangesNothing) {
  for (const char* apply : {"immediate", "aggregate"}) {
    HandFedBlock block({.apply = apply});
    block.Begin(1);
    block.Push(0, 0);
    block.Forget();
    block.PushSeq(0, 3, 1);
    EXPECT_THAT(block.Heard(), ElementsAre("GAP 0#1 v1")) << apply;
    EXPECT_THAT(block.values(), ElementsAre(1.0F, 1.0F)) << apply;
    EXPECT_EQ(block->v_train(), Iteration(1)) << apply;
    block.PushSeq(0, 2, 1);
    block.PushSeq(0, 3, 2);
    EXPECT_THAT(block.values(), ElementsAre(3.0F, 3.0F)) << apply;
    EXPECT_EQ(block->counters().gaps, 1U);
  }
}

TEST(LedgerTest, AnAbsentPushTakesASequenceToo) {
  HandFedBlock block;
  block.Begin(1);
  block.Absent(0, 0);
  block.PushSeq(0, 1, 1);
  block.PushSeq(0, 2, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 0#1 v1", "ABSENT 0#1 v1", "SUMMED 0#2 v2"));
  EXPECT_THAT(block.values(), ElementsAre(1.0F, 1.0F));
}

TEST(LedgerTest, APushOlderThanAnythingWaitedForIsPassedOverInSilence) {
  HandFedBlock block;
  block.Begin(1);
  for (int i = 0; i < 6; ++i) block.Push(0, i);
  block.Forget();
  block.PushSeq(0, 1, 0);
  EXPECT_THAT(block.Heard(), IsEmpty());
  EXPECT_THAT(block.values(), ElementsAre(6.0F, 6.0F));
}

TEST(LedgerTest, AReplacedLifeIsFencedAndItsSuccessorBeginsAnew) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  block.Push(0, 0);
  block.Leave(0).Join(0, 1, 2).Roster();
  block.Forget();
  block.PushSeq(0, 2, 1, 1);
  block.PushSeq(0, 1, 1, 2);
  block.PushSeq(0, 1, 0, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("FENCED 0#2 v0", "APPLIED 0'2#1 v0", "FENCED 0#1 v0"));
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
  EXPECT_EQ(block->counters().fenced, 2U);
}

TEST(LedgerTest, AGoneLifeHearsItsOldVerdictsButAddsNothing) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  block.Push(0, 0);
  block.Leave(0).Roster();
  block.Forget();
  block.PushSeq(0, 1, 0);
  block.PushSeq(0, 2, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#1 v0", "FENCED 0#2 v0"));
  EXPECT_THAT(block.values(), ElementsAre(1.0F, 1.0F));
}

TEST(LedgerTest, AnotherTermOrAnUnknownLifeIsSentAway) {
  HandFedBlock block;
  block.Begin(1);
  PushEvent push = block.NextPush(0, 0);
  push.term = Term(2);
  block.Feed(push, {1, 1});
  block.PushSeq(5, 1, 0);
  block.PushSeq(0, 1, 0, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("MOVED 0#1 v0", "MOVED 5#1 v0", "MOVED 0'2#1 v0"));
  EXPECT_THAT(block.values(), ElementsAre(0.0F, 0.0F));
  block.PushSeq(0, 1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v1"));
}

}  // namespace
}  // namespace leeway
