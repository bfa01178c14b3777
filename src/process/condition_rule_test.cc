#include "process/condition_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/spec.h"
#include "sync/sync_policy.h"
#include "sync/sync_rules.h"

namespace leeway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<std::string> RuleFor(SyncCondition given, const std::string& formula,
                            const std::vector<std::string>& syncs) {
  return ConditionRule(BuiltinSyncModels(), "TheCall", given, "fc*", formula, syncs);
}

// The model that a rule sets, which says both conditions.
SyncPolicy ModelOf(const Result<std::string>& rule) {
  EXPECT_TRUE(rule.ok()) << rule.status().ToString();
  const Result<SyncRule> parsed = ParseSyncRule(rule.ok() ? *rule : "");
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->tables, "fc*");
  Result<SyncPolicy> policy = MakeSyncPolicy(BuiltinSyncModels(), parsed->sync);
  EXPECT_TRUE(policy.ok()) << policy.status().ToString();
  return *std::move(policy);
}

TEST(ConditionRuleTest, TheConditionThatIsNotGivenStaysAsTheModelHasIt) {
  const SyncPolicy push = ModelOf(RuleFor(SyncCondition::kPush, "count >= 2", {"when:pull=\"gap < 5\""}));
  EXPECT_EQ(push.model->PullCondition(), "gap < 5");
  EXPECT_EQ(push.model->PushCondition(), "count >= 2");
  const SyncPolicy pull = ModelOf(RuleFor(SyncCondition::kPull, "gap < 5", {"when:push=\"count >= 2\""}));
  EXPECT_EQ(pull.model->PullCondition(), "gap < 5");
  EXPECT_EQ(pull.model->PushCondition(), "count >= 2");
}

TEST(ConditionRuleTest, ThePushConditionOfMostModelsIsWrittenAsAFormula) {
  EXPECT_EQ(ModelOf(RuleFor(SyncCondition::kPull, "gap < 5", {"ssp:2", "bsp"})).model->PushCondition(),
            "count >= workers");
}

TEST(ConditionRuleTest, AConditionThatIsNoFormulaCannotStay) {
  const Status refused = RuleFor(SyncCondition::kPush, "count >= 1", {"pssp:2,0.5"}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("TheCall"), HasSubstr("\"pssp:2,0.5\""), HasSubstr("as a formula")));
}

TEST(ConditionRuleTest, AConditionThatDiffersAmongTheTablesCannotStay) {
  const Status refused = RuleFor(SyncCondition::kPush, "count >= 1", {"ssp:2", "ssp:3"}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("\"ssp:2\" and \"ssp:3\""), HasSubstr("not the same")));
}

TEST(ConditionRuleTest, WithoutTablesTheRuleGoesToTheSchedulerWhichReportsIt) {
  EXPECT_EQ(ModelOf(RuleFor(SyncCondition::kPull, "gap < 5", {})).model->PushCondition(), "count >= workers");
  EXPECT_EQ(ModelOf(RuleFor(SyncCondition::kPush, "count >= 1", {})).model->PullCondition(),
            "progress < v_train");
}

}  // namespace
}  // namespace leeway
