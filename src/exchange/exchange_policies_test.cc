// Every policy by hand-made views, and the texts of wrong specs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "exchange/exchanges.h"
#include "exchange/testing/fake_exchange_view.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ExchangePolicyPtr Made(const std::string& spec) {
  Result<ExchangePolicyPtr> made = BuiltinExchanges().MakeFromSpec(spec);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return *std::move(made);
}

// The iterations below 10 that a worker exchanges.
std::vector<std::int64_t> DueBelowTen(const std::string& spec) {
  const ExchangePolicyPtr policy = Made(spec);
  std::vector<std::int64_t> due;
  FakeExchangeView view;
  for (; view.now < 10; ++view.now) {
    if (!policy->IsDue(view)) continue;
    due.push_back(view.now);
    view.before = view.now;
  }
  return due;
}

TEST(EveryTest, TheLastIterationOfEachRoundIsDue) {
  EXPECT_THAT(DueBelowTen("every:4"), ElementsAre(3, 7));
  EXPECT_THAT(DueBelowTen("every:k=1"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(EveryTest, AnIterationThatWasPassedOverIsMadeUpFor) {
  EXPECT_TRUE(Made("every:4")->IsDue(FakeExchangeView(5, 2)));
  EXPECT_FALSE(Made("every:4")->IsDue(FakeExchangeView(5, 3)));
}

TEST(EveryTest, OnlyARoundOfOnePromisesEveryIteration) {
  EXPECT_TRUE(Made("every:1")->EveryIteration());
  EXPECT_FALSE(Made("every:2")->EveryIteration());
  EXPECT_FALSE(Made("when_stale:0")->EveryIteration());
}

TEST(WhenStaleTest, ValuesThatLackMoreThanSIterationsAreDue) {
  const ExchangePolicyPtr policy = Made("when_stale:3");
  FakeExchangeView view;
  EXPECT_TRUE(policy->IsDue(view)) << "an age that is not known";
  for (const auto& [age, due] :
       std::vector<std::pair<std::int64_t, bool>>{{0, false}, {3, false}, {4, true}}) {
    view.age = age;
    EXPECT_EQ(policy->IsDue(view), due) << age;
  }
}

TEST(SignificantTest, AGradientAboveTheThresholdIsDueAndSoIsNoGradient) {
  const ExchangePolicyPtr policy = Made("significant:0.5");
  FakeExchangeView view;
  EXPECT_TRUE(policy->IsDue(view)) << "no gradient";
  for (const auto& [significance, due] : std::vector<std::pair<double, bool>>{
           {0.5, false}, {0.500001, true}, {std::numeric_limits<double>::infinity(), true}}) {
    view.significance = significance;
    EXPECT_EQ(policy->IsDue(view), due) << significance;
  }
}

TEST(ExchangesTest, WhatIsWrongIsToldWithGotAndWanted) {
  for (const auto& [spec, says] : std::vector<std::pair<const char*, const char*>>{
           {"evry:3",
            "unknown exchange policy \"evry\"; known: every, significant, when_stale (did you mean "
            "\"every\"?)"},
           {"every", "exchange policy \"every\": k: got nothing"},
           {"every:0", "k: got \"0\", wanted a whole number from 1"},
           {"every:1.5", "k: got \"1.5\""},
           {"when_stale:-1", "s: got \"-1\""},
           {"significant:-0.1", "t: got \"-0.1\", wanted a number of at least 0"},
           {"significant:inf", "t: got \"inf\""},
           {"every:1,2", "one too many"},
           {"every:1+every:2", "got 2 terms, wanted one"},
       }) {
    const auto policy = BuiltinExchanges().MakeFromSpec(spec);
    ASSERT_FALSE(policy.ok()) << spec;
    EXPECT_THAT(policy.status().message(), HasSubstr(says)) << spec;
  }
}

}  // namespace
}  // namespace leeway
