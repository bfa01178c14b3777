#include "node/worker/cut_answer.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

wire::pb::RankState StateOf(std::int64_t iteration) {
  wire::pb::RankState answer;
  answer.set_file("rank-0");
  answer.set_iteration(iteration);
  return answer;
}

TEST(CutAnswerTest, IsTakenOnce) {
  CutAnswer cut;
  EXPECT_FALSE(cut.Take(Iteration(9)).has_value());
  cut.Hold(StateOf(4));
  EXPECT_TRUE(cut.holds());
  ASSERT_TRUE(cut.Take(Iteration(0)).has_value()) << "the blocks wait for their iteration";
  EXPECT_FALSE(cut.Take(Iteration(9)).has_value());
}

TEST(CutAnswerTest, AStateWaitsForTheVerdictsBeforeItWhereBlocksAreCutAtOnce) {
  CutAnswer cut;
  cut.OnCut(Iteration(0));
  cut.Hold(StateOf(4));
  EXPECT_FALSE(cut.Take(Iteration(3)).has_value());
  EXPECT_TRUE(cut.Take(Iteration(4)).has_value());
}

TEST(CutAnswerTest, AnAnswerWithoutAStateWaitsForNothing) {
  CutAnswer cut;
  cut.OnCut(Iteration(0));
  cut.Hold(wire::pb::RankState());
  EXPECT_TRUE(cut.Take(Iteration(0)).has_value());
}

}  // namespace
}  // namespace leeway
