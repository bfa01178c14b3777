#include "node/scheduler/set_sync_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

TEST(SetSyncAnswersTest, WhatWasAnsweredIsAnsweredAgain) {
  SetSyncAnswers answers;
  EXPECT_FALSE(answers.Find(7, 3));
  answers.Note(7, 3, {Status::Ok(), 2});
  answers.Note(7, 5, {NotFound("no such table"), 0});
  ASSERT_TRUE(answers.Find(7, 3));
  EXPECT_EQ(answers.Find(7, 3)->tables, 2U);
  EXPECT_EQ(answers.Find(7, 5)->status.code(), StatusCode::kNotFound);
  EXPECT_FALSE(answers.Find(7, 6)) << "a new one";
  EXPECT_FALSE(answers.Find(8, 3)) << "of another life";
}

TEST(SetSyncAnswersTest, OneThatIsForgottenIsNotTakenForANewOne) {
  SetSyncAnswers answers;
  for (std::uint64_t request = 1; request <= SetSyncAnswers::kAnswersMax + 1; ++request)
    answers.Note(7, request, {Status::Ok(), 1});
  ASSERT_TRUE(answers.Find(7, 1));
  EXPECT_THAT(answers.Find(7, 1)->status.message(), HasSubstr("answered before"));
  EXPECT_TRUE(answers.Find(7, 2)->status.ok());
}

TEST(SetSyncAnswersTest, LivesThatAskedLongestAgoAreForgotten) {
  SetSyncAnswers answers;
  answers.Note(1, 1, {Status::Ok(), 1});
  answers.Note(2, 1, {Status::Ok(), 1});
  answers.Note(1, 2, {Status::Ok(), 1});
  for (std::uint64_t life = 3; life <= SetSyncAnswers::kLivesMax + 1; ++life)
    answers.Note(life, 1, {Status::Ok(), 1});
  EXPECT_FALSE(answers.Find(2, 1));
  EXPECT_TRUE(answers.Find(1, 1)) << "it asked again since";
}

TEST(SetSyncAnswersTest, TheLogHasThemAll) {
  SetSyncAnswers answers;
  answers.Note(7, 3, {Status::Ok(), 2});
  wire::pb::LogRecord first, second, whole;
  EXPECT_TRUE(answers.AddChanges(first));
  EXPECT_FALSE(answers.AddChanges(second)) << "nothing is new";
  answers.Note(7, 4, {InvalidArgument("{}", std::string(5000, 'x')), 0});
  EXPECT_TRUE(answers.AddChanges(second));
  EXPECT_EQ(second.set_syncs_size(), 1);
  EXPECT_LT(second.ByteSizeLong(), 1000U);
  answers.AddAll(whole);
  SetSyncAnswers replayed, from_whole;
  replayed.Apply(first);
  replayed.Apply(second);
  from_whole.Apply(whole);
  for (const SetSyncAnswers* again : {&replayed, &from_whole}) {
    ASSERT_TRUE(again->Find(7, 3));
    EXPECT_EQ(again->Find(7, 3)->tables, 2U);
    EXPECT_EQ(again->Find(7, 4)->status.code(), StatusCode::kInvalidArgument);
    EXPECT_FALSE(again->Find(7, 5));
  }
  wire::pb::LogRecord none;
  EXPECT_FALSE(replayed.AddChanges(none)) << "they are in the log";
}

}  // namespace
}  // namespace leeway
