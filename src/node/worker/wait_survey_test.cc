#include "node/worker/wait_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

wire::pb::WhyReply OfShard(std::uint64_t request) {
  wire::pb::WhyReply reply;
  reply.set_request(request);
  reply.set_known(true);
  reply.set_initialized(true);
  reply.set_delayed(true);
  reply.set_v_train(4);
  reply.add_missing(2);
  return reply;
}

// The wait that the survey makes of one answer.
wire::pb::OpenWait Taken(const wire::pb::WhyReply& answer, std::optional<Iteration> held = {}) {
  WaitSurvey survey;
  survey.Begin(9);
  EXPECT_TRUE(survey.Ask(1, {"a table", held}));
  EXPECT_FALSE(survey.IsAnswered());
  EXPECT_TRUE(survey.Take(answer));
  EXPECT_TRUE(survey.IsAnswered());
  const wire::pb::WhyReply reply = survey.End();
  EXPECT_EQ(reply.request(), 9U);
  return reply.open(0);
}

TEST(WaitSurveyTest, ADelayedPullWaitsForThoseThatItsBlockLacks) {
  const wire::pb::OpenWait wait = Taken(OfShard(1));
  EXPECT_EQ(wait.what(), "a table");
  EXPECT_EQ(wait.v_train(), 4);
  EXPECT_THAT(wait.missing(), ElementsAre(2U));
}

TEST(WaitSurveyTest, APullThatDoesNotWaitInItsBlockIsAnswered) {
  wire::pb::WhyReply answer = OfShard(1);
  answer.set_delayed(false);
  EXPECT_THAT(Taken(answer).missing(), IsEmpty());
}

TEST(WaitSurveyTest, ABlockThatATimerMovesOnWaitsForNobody) {
  wire::pb::WhyReply answer = OfShard(1);
  answer.set_timed(true);
  EXPECT_THAT(Taken(answer).missing(), IsEmpty());
}

TEST(WaitSurveyTest, ABlockThatIsElsewhereSaysNothing) {
  wire::pb::WhyReply answer = OfShard(1);
  answer.set_known(false);
  EXPECT_THAT(Taken(answer).missing(), IsEmpty());
}

TEST(WaitSurveyTest, ATableWithoutValuesWaitsForAnyone) {
  wire::pb::WhyReply answer = OfShard(1);
  answer.set_initialized(false);
  answer.set_delayed(false);
  EXPECT_TRUE(Taken(answer).anyone());
}

TEST(WaitSurveyTest, APushThatIsTooEarlyWaitsUntilItIsNot) {
  EXPECT_THAT(Taken(OfShard(1), Iteration(5)).missing(), ElementsAre(2U));
  EXPECT_THAT(Taken(OfShard(1), Iteration(4)).missing(), IsEmpty()) << "the block has come to it";
}

TEST(WaitSurveyTest, OnlyItsOwnQuestionsAreTaken) {
  WaitSurvey survey;
  survey.Begin(9);
  EXPECT_TRUE(survey.Ask(1, {"a table"}));
  EXPECT_FALSE(survey.Take(OfShard(2)));
  survey.Begin(10);
  EXPECT_FALSE(survey.Take(OfShard(1))) << "of the survey before";
}

TEST(WaitSurveyTest, AQuestionWithoutAnAnswerIsAWaitForNobodyKnown) {
  WaitSurvey survey;
  survey.Begin(9);
  EXPECT_TRUE(survey.Ask(1, {"a table"}));
  const wire::pb::WhyReply reply = survey.End();
  ASSERT_EQ(reply.open_size(), 1);
  EXPECT_EQ(reply.open(0).what(), "a table");
  EXPECT_THAT(reply.open(0).missing(), IsEmpty());
}

TEST(WaitSurveyTest, ALongListEndsWithOneWaitForNobodyKnown) {
  constexpr std::size_t kMax = 64;
  WaitSurvey survey;
  survey.Begin(9);
  for (std::uint64_t i = 0; i < 40; ++i) {
    (void)survey.Ask(i, {"a table"});
    wire::pb::OpenWait barrier;
    barrier.set_what("a barrier");
    barrier.add_missing(2);
    survey.Add(barrier);
  }
  for (std::uint64_t i = 0; i < 40; ++i) (void)survey.Take(OfShard(i));
  EXPECT_TRUE(survey.IsAnswered());
  wire::pb::WhyReply reply = survey.End();
  ASSERT_EQ(reply.open_size(), kMax + 1);
  const auto nobody = [](const wire::pb::OpenWait& wait) { return wait.missing().empty(); };
  EXPECT_EQ(std::count_if(reply.open().begin(), reply.open().end(), nobody), 1);
  survey.Begin(10);
  EXPECT_EQ(survey.End().open_size(), 0) << "the next survey begins with none";
}

}  // namespace
}  // namespace leeway
