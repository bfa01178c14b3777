#include "sync/sync_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::HasSubstr;

Result<SyncPolicy> MakeBuiltinSync(std::string_view spec) {
  return MakeSyncPolicy(BuiltinSyncModels(), spec);
}

TEST(SyncPolicyTest, OptionsOfEveryModelAreTakenFromTheSpec) {
  const auto policy = MakeBuiltinSync("ssp:3,release=soft,late=apply,scope=server");
  ASSERT_TRUE(policy.ok()) << policy.status().ToString();
  EXPECT_EQ(policy->release, Release::kSoft);
  EXPECT_EQ(policy->late, Late::kApply);
  EXPECT_EQ(policy->scope, CoinScope::kServer);
  EXPECT_EQ(policy->model->Lead(), 3);
}

TEST(SyncPolicyTest, OptionsHaveDefaultsAndLateIsLeftToTheBlock) {
  const auto policy = MakeBuiltinSync("bsp");
  ASSERT_TRUE(policy.ok()) << policy.status().ToString();
  EXPECT_EQ(policy->release, Release::kLazy);
  EXPECT_EQ(policy->late, std::nullopt);
  EXPECT_EQ(policy->scope, CoinScope::kJob);
}

TEST(SyncPolicyTest, LeadAndDefaultApplyOfEachModel) {
  EXPECT_EQ(MakeBuiltinSync("bsp")->model->Lead(), 0);
  EXPECT_STREQ(MakeBuiltinSync("bsp")->model->DefaultApply(), "aggregate");
  EXPECT_EQ(MakeBuiltinSync("asp")->model->Lead(), std::nullopt);
  EXPECT_STREQ(MakeBuiltinSync("asp")->model->DefaultApply(), "immediate");
  EXPECT_EQ(MakeBuiltinSync("ssp:s=7")->model->Lead(), 7);
  EXPECT_STREQ(MakeBuiltinSync("ssp:7")->model->DefaultApply(), "immediate");
}

TEST(SyncPolicyTest, BadSpecsAreRefusedWithWhatWasGotAndWanted) {
  struct Case {
    const char* spec;
    StatusCode code;
    const char* says;
  };
  for (const Case& c :
       {Case{"bpp", StatusCode::kInvalidArgument, "did you mean"}, Case{"", StatusCode::kInvalidArgument, ""},
        Case{"bsp+asp", StatusCode::kInvalidArgument, "wanted one"},
        Case{"ssp", StatusCode::kInvalidArgument, "s"}, Case{"ssp:-1", StatusCode::kInvalidArgument, "-1"},
        Case{"ssp:1000001", StatusCode::kInvalidArgument, "1000001"},
        Case{"ssp:x", StatusCode::kInvalidArgument, "x"}, Case{"ssp:1,2", StatusCode::kInvalidArgument, "2"},
        Case{"bsp:release=sooft", StatusCode::kInvalidArgument, "soft"},
        Case{"bsp:relase=soft", StatusCode::kInvalidArgument, "release"},
        Case{"bsp:soft", StatusCode::kInvalidArgument, "soft"},
        Case{"bsp:late=never", StatusCode::kInvalidArgument, "never"}}) {
    const auto policy = MakeBuiltinSync(c.spec);
    ASSERT_FALSE(policy.ok()) << c.spec;
    EXPECT_EQ(policy.status().code(), c.code) << c.spec << ": " << policy.status().ToString();
    EXPECT_THAT(policy.status().message(), HasSubstr(c.says)) << c.spec;
  }
}

}  // namespace
}  // namespace leeway
