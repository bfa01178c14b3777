// The contract of exchange policies, run over every example of every row: the same view has the same answer,
// a promise of every iteration is kept, no worker is silent for good, and a spec means the same when printed.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/spec.h"
#include "exchange/exchanges.h"
#include "exchange/testing/fake_exchange_view.h"
#include "exchange_examples.h"

namespace leeway {
namespace {

std::vector<std::string> AllExamples() {
  std::vector<std::string> all;
  for (const auto& [name, specs] : ExchangeExamples()) all.insert(all.end(), specs.begin(), specs.end());
  return all;
}

// Views of what a worker may meet: unknown ages, no gradient, huge gradients, iterations passed over.
std::vector<FakeExchangeView> Views() {
  std::vector<FakeExchangeView> views;
  for (const auto& [now, before] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, -1}, {1, 0}, {7, 3}, {1'000'000'000'000, 999'999'999'999}, {1'000'000'000'000, 5}}) {
    for (const std::optional<std::int64_t> age : {std::optional<std::int64_t>(), {0}, {1}, {1'000'000'000}}) {
      for (const std::optional<double> significance :
           {std::optional<double>(), {0.0}, {0.5}, {std::numeric_limits<double>::infinity()}}) {
        FakeExchangeView& view = views.emplace_back(now, before);
        view.age = age;
        view.significance = significance;
      }
    }
  }
  return views;
}

class ExchangeContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  ExchangePolicyPtr Made() {
    Result<ExchangePolicyPtr> made = BuiltinExchanges().MakeFromSpec(GetParam(), &term_);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return *std::move(made);
  }
  SpecTerm term_;
};

TEST_P(ExchangeContractTest, TheSameViewHasTheSameAnswer) {
  const ExchangePolicyPtr policy = Made(), other = Made();
  std::vector<bool> first, second, of_other;
  for (const FakeExchangeView& view : Views()) first.push_back(policy->IsDue(view));
  for (const FakeExchangeView& view : Views()) second.push_back(policy->IsDue(view));
  for (const FakeExchangeView& view : Views()) of_other.push_back(other->IsDue(view));
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, of_other);
}

TEST_P(ExchangeContractTest, APromiseOfEveryIterationIsKept) {
  const ExchangePolicyPtr policy = Made();
  if (!policy->EveryIteration()) return;
  for (const FakeExchangeView& view : Views()) EXPECT_TRUE(policy->IsDue(view)) << view.now;
}

// Other workers wait for this one, and it would never learn what they did.
TEST_P(ExchangeContractTest, AWorkerThatKnowsNothingAndHasNothingExchangesAtLast) {
  FakeExchangeView view(10'000'000);
  EXPECT_TRUE(Made()->IsDue(view));
}

TEST_P(ExchangeContractTest, ASpecMeansTheSameWhenItIsPrinted) {
  (void)Made();
  const SpecTerm term = term_;
  SpecTerm again;
  ASSERT_TRUE(BuiltinExchanges().MakeFromSpec(PrintSpec({{term}}), &again).ok()) << PrintSpec({{term}});
  EXPECT_EQ(again, term);
}

INSTANTIATE_TEST_SUITE_P(Examples, ExchangeContractTest, ::testing::ValuesIn(AllExamples()),
                         [](const auto& spec) { return "n" + std::to_string(spec.index); });

}  // namespace
}  // namespace leeway
