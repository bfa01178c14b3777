#include "block/apply_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::HasSubstr;

Result<ApplyMode> ApplyFor(const char* sync, const char* apply) {
  const auto policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
  EXPECT_TRUE(policy.ok()) << policy.status().ToString();
  return MakeApplyMode(apply, *policy->model);
}

TEST(ApplyModeTest, TheSyncModelGivesTheDefault) {
  EXPECT_EQ(ApplyFor("bsp", "")->kind, ApplyMode::Kind::kAggregate);
  EXPECT_EQ(ApplyFor("asp", "")->kind, ApplyMode::Kind::kImmediate);
  EXPECT_EQ(ApplyFor("ssp:3", "")->kind, ApplyMode::Kind::kImmediate);
}

TEST(ApplyModeTest, TheWindowCoversTheLead) {
  EXPECT_EQ(ApplyFor("bsp", "aggregate")->window, 2);
  EXPECT_EQ(ApplyFor("ssp:3", "aggregate")->window, 5);
  EXPECT_EQ(ApplyFor("ssp:3", "aggregate:window=9")->window, 9);
  EXPECT_EQ(ApplyFor("ssp:1000000", "aggregate")->window, 1'000'002);
  EXPECT_FALSE(ApplyFor("bsp", "aggregate")->ordered);
  EXPECT_TRUE(ApplyFor("bsp", "aggregate:reduce=ordered")->ordered);
}

TEST(ApplyModeTest, StalenessIsLookedAtWhenAskedForOnly) {
  const auto plain = ApplyFor("asp", "immediate");
  EXPECT_FALSE(plain->scale_by_staleness);
  EXPECT_EQ(plain->dc, 0.0F);
  EXPECT_EQ(plain->dc_versions, 0U);
  EXPECT_TRUE(ApplyFor("asp", "immediate:scale=staleness")->scale_by_staleness);
  const auto both = ApplyFor("ssp:3", "immediate:scale=staleness,dc=0.04,dc_versions=3");
  EXPECT_TRUE(both->scale_by_staleness);
  EXPECT_EQ(both->dc, 0.04F);
  EXPECT_EQ(both->dc_versions, 3U);
  EXPECT_EQ(ApplyFor("asp", "immediate:dc=2")->dc_versions, 8U);
}

TEST(ApplyModeTest, RelayIsAggregateForModelsInLockstep) {
  for (const char* sync : {"bsp", "ssp:0"}) {
    const auto mode = ApplyFor(sync, "relay");
    ASSERT_TRUE(mode.ok()) << mode.status().ToString();
    EXPECT_TRUE(mode->relay);
    EXPECT_EQ(mode->kind, ApplyMode::Kind::kAggregate);
    EXPECT_EQ(mode->window, 2);
    EXPECT_FALSE(mode->ordered);
  }
  EXPECT_TRUE(ApplyFor("bsp", "relay:reduce=ordered")->ordered);
  EXPECT_FALSE(ApplyFor("bsp", "aggregate")->relay);
  for (const char* sync : {"asp", "ssp:1", "drop:1", "psp:1,0", "ssptable:0", "bounded:0", "pssp:3,0.5"}) {
    const auto mode = ApplyFor(sync, "relay");
    ASSERT_FALSE(mode.ok()) << sync;
    EXPECT_THAT(mode.status().message(), HasSubstr("wanted bsp; use sync \"bsp\"")) << sync;
  }
  EXPECT_TRUE(NamesRelay("relay"));
  EXPECT_TRUE(NamesRelay("relay:reduce=ordered"));
  EXPECT_FALSE(NamesRelay("relays"));
  EXPECT_FALSE(NamesRelay(""));
}

TEST(ApplyModeTest, WhatDoesNotFitIsRefused) {
  struct Case {
    const char *sync, *apply, *says;
  };
  for (const Case& c :
       {Case{"asp", "aggregate", "aggregate needs a sync model that bounds"},
        Case{"ssp:3", "aggregate:window=4", "got window=4, wanted at least 5"},
        Case{"bsp", "aggregate:window=1", "wanted at least 2"},
        Case{"bsp", "agregate", "did you mean \"aggregate\"?"},
        Case{"bsp", "aggregate:reduce=sorted", "sorted"}, Case{"bsp", "aggregate:widow=3", "window"},
        Case{"bsp", "immediate:window=3", "window"}, Case{"bsp", "immediate+aggregate", "wanted one"},
        Case{"asp", "immediate:scale=stale", "wanted one of: none, staleness"},
        Case{"asp", "immediate:dc=-1", "-1"}, Case{"asp", "immediate:dc=nan", "nan"},
        Case{"asp", "immediate:dc_versions=4", "without dc"},
        Case{"asp", "immediate:dc=1,dc_versions=0", "dc_versions"},
        Case{"bsp", "relay:window=3", "unknown argument \"window\""},
        Case{"bsp", "rely", "did you mean \"relay\"?"},
        Case{"bsp", "aggregate:dc=1", "unknown argument \"dc\""}, Case{"bsp", "aggregate:", ""}}) {
    const auto mode = ApplyFor(c.sync, c.apply);
    ASSERT_FALSE(mode.ok()) << c.apply;
    EXPECT_THAT(mode.status().message(), HasSubstr(c.says)) << c.apply;
  }
}

}  // namespace
}  // namespace leeway
