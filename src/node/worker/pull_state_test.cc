#include "node/worker/pull_state.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(PullStateTest, EveryQuestionHasANumberAndAResentOneKeepsIt) {
  PullState pull;
  pull.Ask(Iteration(-1), {});
  EXPECT_EQ(pull.ask(), Ask(1));
  pull.MarkSent();
  EXPECT_FALSE(pull.to_send());
  pull.AskAgain();
  EXPECT_TRUE(pull.to_send());
  EXPECT_EQ(pull.ask(), Ask(1));
  pull.Ask(Iteration(0), {});
  EXPECT_EQ(pull.ask(), Ask(2));
}

TEST(PullStateTest, TheLastQuestionsAreRememberedAndOlderOnesForgotten) {
  PullState pull;
  for (const std::int64_t progress : {-1, 0, 3, 3, 10}) pull.Ask(Iteration(progress), {});
  EXPECT_EQ(pull.ProgressOf(Ask(5)), Iteration(10));
  EXPECT_EQ(pull.ProgressOf(Ask(4)), Iteration(3));
  EXPECT_EQ(pull.ProgressOf(Ask(3)), Iteration(3));
  EXPECT_EQ(pull.ProgressOf(Ask(2)), std::nullopt) << "too long ago";
  EXPECT_EQ(pull.ProgressOf(Ask(6)), std::nullopt) << "never asked";
  EXPECT_EQ(pull.ProgressOf(Ask(0)), std::nullopt);
}

TEST(PullStateTest, AQuestionFarBehindOrAheadIsForgotten) {
  PullState pull;
  pull.Ask(Iteration(5), {});
  pull.Ask(Iteration(300), {});
  EXPECT_EQ(pull.ProgressOf(Ask(1)), std::nullopt);
  pull.Ask(Iteration(299), {});
  EXPECT_EQ(pull.ProgressOf(Ask(2)), std::nullopt) << "for more than is asked now";
  EXPECT_EQ(pull.ProgressOf(Ask(1)), std::nullopt);
}

TEST(PullStateTest, OnlyAnAnswerThatIsNewEnoughSettlesTheQuestion) {
  PullState pull;
  pull.Ask(Iteration(3), {});
  pull.Ask(Iteration(4), {});
  pull.Settle(*pull.ProgressOf(Ask(1)));
  EXPECT_TRUE(pull.open());
  pull.Settle(*pull.ProgressOf(Ask(2)));
  EXPECT_FALSE(pull.open());
}

}  // namespace
}  // namespace leeway
