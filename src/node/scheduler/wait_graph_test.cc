#include "node/scheduler/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two members; worker 0 stands at a barrier that worker 1 has not come to, which waits for its gradient.
class WaitGraphTest : public ::testing::Test {
 protected:
  void Report(std::uint32_t rank, bool waits, std::uint64_t acts = 1) {
    graph.OnReport(WorkerId(rank), 100 + rank, waits, acts, now);
  }
  [[nodiscard]] static WaitGraph::Answer Waits(const char* what, std::vector<std::uint32_t> missing,
                                               std::uint64_t acts = 1) {
    WaitGraph::Answer answer{.acts = acts, .waits = true, .settled = true, .open = {}};
    WaitGraph::Open& open = answer.open.emplace_back();
    open.what = what;
    for (const std::uint32_t rank : missing) open.missing.emplace_back(rank);
    return answer;
  }
  void Answer(std::uint32_t rank, const WaitGraph::Answer& answer) {
    graph.OnAnswer(WorkerId(rank), 100 + rank, round, answer);
  }
  // Both wait for longer than it takes to be asked.
  void BothWait() {
    Report(0, true);
    Report(1, true);
    now += seconds(4);
  }
  void Begin() {
    const auto begun = graph.BeginRound(workers, now);
    ASSERT_TRUE(begun.has_value());
    round = begun->number;
  }
  // A round in which these are the answers.
  std::optional<std::string> Round(const WaitGraph::Answer& of_0, const WaitGraph::Answer& of_1) {
    Begin();
    Answer(0, of_0);
    Answer(1, of_1);
    now += seconds(1);
    return graph.EndRound(workers, true, epoch, now);
  }
  // Whether so many rounds, all alike, are a standstill.
  bool StandsStill(const WaitGraph::Answer& of_0, const WaitGraph::Answer& of_1,
                   int rounds = 2 * WaitGraph::kRoundsAlike) {
    bool found = false;
    for (int i = 0; i < rounds && !found; ++i) found = Round(of_0, of_1).has_value();
    return found;
  }

  const WaitGraph::Answer at_barrier = Waits("barrier \"epoch\"", {1});
  const WaitGraph::Answer for_values = Waits("the values of table \"w\" for iteration 3", {0});
  std::vector<WaitGraph::Worker> workers{{WorkerId(0), 100}, {WorkerId(1), 101}};
  WaitGraph graph{seconds(1)};
  Epoch epoch{1};
  TimePoint now{minutes(10)};
  std::uint64_t round = 0;
};

TEST_F(WaitGraphTest, ThreeRoundsAlikeInWhichAllWaitForOthersAreAStandstill) {
  BothWait();
  EXPECT_EQ(Round(at_barrier, for_values), std::nullopt);
  EXPECT_EQ(Round(at_barrier, for_values), std::nullopt);
  EXPECT_EQ(
      Round(at_barrier, for_values),
      "worker 0 waits for barrier \"epoch\", which needs worker 1; worker 1 waits for the values of table "
      "\"w\" for iteration 3, which needs worker 0");
}

TEST_F(WaitGraphTest, ThoseThatWaitForTheSameAreNamedTogether) {
  workers.push_back({WorkerId(2), 102});
  Report(2, true);
  BothWait();
  std::optional<std::string> found;
  for (int i = 0; i < 3; ++i) {
    Begin();
    Answer(0, at_barrier);
    Answer(1, for_values);
    Answer(2, for_values);
    found = graph.EndRound(workers, true, epoch, now);
  }
  EXPECT_THAT(*found, ::testing::HasSubstr("workers 1, 2 wait for the values"));
}

TEST_F(WaitGraphTest, NobodyIsAskedWhoHasJustBegunToWait) {
  Report(0, true);
  Report(1, false);
  now += seconds(2);
  EXPECT_FALSE(graph.BeginRound(workers, now).has_value());
  now += seconds(1);
  EXPECT_THAT(graph.BeginRound(workers, now)->asked, ElementsAre(WorkerId(0)));
}

TEST_F(WaitGraphTest, ACallBetweenTwoRoundsBeginsAnew) {
  BothWait();
  EXPECT_FALSE(StandsStill(at_barrier, for_values, 2));
  const WaitGraph::Answer later = Waits("the values of table \"w\" for iteration 3", {0}, 2);
  EXPECT_FALSE(StandsStill(at_barrier, later, 2));
  EXPECT_TRUE(StandsStill(at_barrier, later, 1));
}

TEST_F(WaitGraphTest, AChangeOfMembershipBeginsAnew) {
  BothWait();
  EXPECT_FALSE(StandsStill(at_barrier, for_values, 2));
  epoch = Epoch(2);
  EXPECT_FALSE(StandsStill(at_barrier, for_values, 2));
}

TEST_F(WaitGraphTest, AnAnswerToAnEarlierRoundDoesNotCount) {
  BothWait();
  EXPECT_FALSE(StandsStill(at_barrier, for_values, 2));
  Begin();
  Answer(0, at_barrier);
  graph.OnAnswer(WorkerId(1), 101, round - 1, for_values);
  EXPECT_EQ(graph.EndRound(workers, true, epoch, now), std::nullopt);
  // Without the answer the round ends for nothing, and what was alike before is forgotten.
  now += seconds(6);
  EXPECT_EQ(graph.EndRound(workers, true, epoch, now), std::nullopt);
  EXPECT_FALSE(StandsStill(at_barrier, for_values, 2));
}

TEST_F(WaitGraphTest, AnswersOfAnEarlierLifeDoNotCount) {
  BothWait();
  for (int i = 0; i < WaitGraph::kRoundsAlike; ++i) {
    Begin();
    graph.OnAnswer(WorkerId(0), 99, round, at_barrier);
    Answer(1, for_values);
    now += seconds(6);  // a round that lacks an answer ends by then
    EXPECT_EQ(graph.EndRound(workers, true, epoch, now), std::nullopt);
  }
}

TEST_F(WaitGraphTest, OneThatComputesIsNoStandstill) {
  Report(0, true);
  Report(1, false);
  now += seconds(4);
  for (int i = 0; i < 6; ++i) {
    Begin();
    Answer(0, at_barrier);
    EXPECT_EQ(graph.EndRound(workers, true, epoch, now), std::nullopt);
  }
}

TEST_F(WaitGraphTest, WhatCouldStillEndAWaitIsNoStandstill) {
  BothWait();
  WaitGraph::Answer pushes = for_values;
  pushes.settled = false;
  EXPECT_FALSE(StandsStill(at_barrier, pushes)) << "a push is under way";
  WaitGraph::Answer ended = for_values;
  ended.waits = false;
  EXPECT_FALSE(StandsStill(at_barrier, ended)) << "the wait has ended";
  EXPECT_FALSE(StandsStill(at_barrier, Waits("the values of table \"w\" for iteration 3", {})))
      << "nobody is missing: the answer is under way";
  EXPECT_FALSE(StandsStill(at_barrier, Waits("the values of table \"w\" for iteration 3", {1})))
      << "its own push";
  EXPECT_FALSE(StandsStill(at_barrier, Waits("the values of table \"w\" for iteration 3", {0, 7})))
      << "worker 7 has left, and the block does not know it yet";
  WaitGraph::Answer two = for_values;
  two.open.push_back({"an answer of the scheduler", {}, {}});
  EXPECT_FALSE(StandsStill(at_barrier, two)) << "its user may wait for the other thing";
  EXPECT_TRUE(StandsStill(at_barrier, for_values));
}

TEST_F(WaitGraphTest, ThoseThatHaveLeftAreNoStandstill) {
  BothWait();
  for (WaitGraph::Worker& worker : workers) worker.counted = false;
  EXPECT_FALSE(StandsStill(Waits("the final values", {}), Waits("the final values", {})));
}

TEST_F(WaitGraphTest, AMemberThatIsAwayIsNoStandstill) {
  BothWait();
  for (int i = 0; i < 6; ++i) {
    Begin();
    Answer(0, at_barrier);
    Answer(1, for_values);
    EXPECT_EQ(graph.EndRound(workers, /*all_here=*/false, epoch, now), std::nullopt);
  }
}

TEST_F(WaitGraphTest, IdleAreThoseThatComputeWhileOthersWaitForThem) {
  Report(0, false);
  Report(1, true);
  EXPECT_THAT(graph.IdleOnes(workers, now), IsEmpty()) << "for whom worker 1 waits is not known";
  now += seconds(5);
  Begin();
  Answer(1, for_values);
  now += seconds(5);
  const auto idle = graph.IdleOnes(workers, now);
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_EQ(idle[0].rank, WorkerId(0));
  EXPECT_EQ(idle[0].idle, seconds(10));
  EXPECT_EQ(idle[0].waited, seconds(10));
  EXPECT_THAT(idle[0].waiters, ElementsAre(WorkerId(1)));
  EXPECT_EQ(graph.IdleFor(WorkerId(0), now), seconds(10));
  EXPECT_EQ(graph.IdleFor(WorkerId(1), now), std::nullopt);
  graph.DiscountPause(seconds(4));
  EXPECT_EQ(graph.IdleOnes(workers, now)[0].idle, seconds(6));
  // It has made a call: it is not idle. And what worker 1 waits for now is not known before it is asked
  // again.
  Report(0, false, 2);
  EXPECT_EQ(graph.IdleOnes(workers, now)[0].idle, seconds(0));
  Report(1, true, 2);
  EXPECT_THAT(graph.IdleOnes(workers, now), IsEmpty());
}

TEST_F(WaitGraphTest, AnIdleWorkerIsNamedOnceAMinute) {
  Report(0, false);
  Report(1, true);
  now += seconds(5);
  Begin();
  Answer(1, for_values);
  int named = 0;
  for (int i = 0; i < 200; ++i) {
    now += seconds(1);
    for (const WaitGraph::Idle& who : graph.IdleOnes(workers, now))
      named += graph.IsReminderDue(who, minutes(1), now) ? 1 : 0;
  }
  EXPECT_EQ(named, 3);
}

}  // namespace
}  // namespace leeway
