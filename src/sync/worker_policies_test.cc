// How a worker pulls, and whether it fits the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sync/pull_policy.h"
#include "sync/sync_policy.h"
#include "sync/worker_fit.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(PullPolicyTest, FullAndPartial) {
  EXPECT_EQ(*ParsePullPolicy("full"), PullPolicy{});
  EXPECT_EQ(*ParsePullPolicy("partial:0.9,50"), (PullPolicy{.partial = true, .share_min = 0.9, .tau = 50ms}));
  EXPECT_EQ(
      *ParsePullPolicy("partial:b=0.9,tau_ms=0.5,skip_max=7,late_pull=drop"),
      (PullPolicy{
          .partial = true, .share_min = 0.9, .tau = 500us, .skip_max = 7, .late = PullPolicy::Late::kDrop}));
  EXPECT_EQ(ParsePullPolicy("partial:0.5")->tau, 0ms);
}

TEST(PullPolicyTest, AsTextItIsTheSame) {
  for (const char* spec :
       {"full", "partial:0.9,50", "partial:0.9,50,late_pull=withdraw",
        "partial:0.333333333,0.000001,skip_max=0,late_pull=drop", "partial:1e-7,3600000", "partial:1,0.1"}) {
    const auto policy = ParsePullPolicy(spec);
    ASSERT_TRUE(policy.ok()) << policy.status().ToString();
    const auto again = ParsePullPolicy(ToText(*policy));
    ASSERT_TRUE(again.ok()) << ToText(*policy) << ": " << again.status().ToString();
    EXPECT_EQ(*again, *policy) << ToText(*policy);
  }
  EXPECT_EQ(ToText(*ParsePullPolicy("partial:0.9,50")), "partial:b=0.9,tau_ms=50,skip_max=2,late_pull=take");
}

TEST(PullPolicyTest, WhatIsWrongIsToldWithGotAndWanted) {
  for (const auto& [spec, says] : std::vector<std::pair<const char*, const char*>>{
           {"", "wanted a name"},
           {"ful", "unknown pull policy \"ful\"; known: full, partial (did you mean \"full\"?)"},
           {"full:3", "one too many"},
           {"full+full", "got 2 terms, wanted one"},
           {"partial", "pull policy \"partial\": b: got nothing, wanted a number from 0 to 1"},
           {"partial:90,50", "b: got \"90\", wanted a number from 0 to 1"},
           {"partial:0.9,-1", "tau_ms: got \"-1\""},
           {"partial:0.9,50,skip_max=-1", "skip_max: got \"-1\""},
           {"partial:0.9,50,skipmax=1", "did you mean \"skip_max\"?"},
           {"partial:0.9,50,late_pull=keep", "wanted one of: take, drop, withdraw"},
       }) {
    const auto policy = ParsePullPolicy(spec);
    ASSERT_FALSE(policy.ok()) << spec;
    EXPECT_THAT(policy.status().message(), HasSubstr(says)) << spec;
  }
}

// Stands for any policy; src/exchange has the real ones.
class Exchanges final : public ExchangePolicy {
 public:
  explicit Exchanges(bool every_iteration) : every_iteration_(every_iteration) {}
  bool IsDue(const ExchangeView&) const override { return true; }
  bool EveryIteration() const override { return every_iteration_; }

 private:
  const bool every_iteration_;
};

template <bool kEveryIteration>
Result<ExchangePolicyPtr> MakeExchanges(const PolicyConfig&) {
  return ExchangePolicyPtr(std::make_unique<Exchanges>(kEveryIteration));
}

Registry<ExchangePolicy> FakeExchanges() {
  Registry<ExchangePolicy> exchanges("exchange policy");
  exchanges.Add("always", MakeExchanges<true>);
  exchanges.Add("sometimes", MakeExchanges<false>);
  return exchanges;
}

TEST(WorkerFitTest, WhatContradictsAModelIsRefusedByNameAndTheRestIsNot) {
  const auto fit = [](const char* sync, const char* pull, const char* exchange) {
    const auto policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
    if (!policy.ok()) return policy.status();
    return CheckWorkerFit(*policy->model, sync, pull, exchange, FakeExchanges());
  };
  EXPECT_THAT(fit("ssptable:2", "partial:0.9,50", "always").message(),
              HasSubstr("sync \"ssptable:2\" with pull \"partial:0.9,50\""));
  EXPECT_THAT(fit("ssptable:2", "full", "sometimes").message(),
              HasSubstr("sync \"ssptable:2\" with exchange \"sometimes\""));
  EXPECT_THAT(fit("bounded:1", "full", "sometimes").message(),
              HasSubstr("sync \"bounded:1\" with exchange \"sometimes\""));
  EXPECT_TRUE(fit("ssptable:2", "full", "always").ok());
  EXPECT_TRUE(fit("bounded:1", "partial:0.9,50", "always").ok());
  for (const char* sync : {"bsp", "asp", "ssp:2", "drop:2", "psp:2,3", "pssp:2,0.5"}) {
    EXPECT_TRUE(fit(sync, "partial:0.9,50", "sometimes").ok()) << sync;
  }
}

}  // namespace
}  // namespace leeway
