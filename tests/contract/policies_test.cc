// The contract of every policy, run over every row of each builtin.def. A row joins by an example spec here
// (synchronization models: in sync_examples.h, exchange policies: in exchange_examples.h, placements: in
// placement_examples.h); a row without one fails. sync_contract_test.cc, exchange_contract_test.cc and
// placement_contract_test.cc have their contracts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "exchange/exchanges.h"
#include "exchange_examples.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "placement_examples.h"
#include "sync/sync_policy.h"
#include "sync_examples.h"

namespace leeway {
namespace {

using Examples = std::map<std::string, std::vector<std::string>>;

Examples OptimizerExamples() {
  return {
      {"adagrad", {"adagrad", "adagrad:lr_decay=0.01,initial=0.1"}},
      {"adam", {"adam"}},
      {"adamw", {"adamw"}},
      {"lars", {"lars", "lars:trust=0.02,nesterov=1", "lars:excluded=1"}},
      {"mean", {"mean"}},
      {"momentum", {"momentum"}},
      {"nesterov", {"nesterov"}},
      {"rmsprop", {"rmsprop", "rmsprop:centered=1", "rmsprop:momentum=1", "rmsprop:centered=1,momentum=1"}},
      {"sgd", {"sgd"}},
      {"sum", {"sum"}}};
}

std::vector<std::string> AllSpecs(const Examples& examples) {
  std::vector<std::string> all;
  for (const auto& [name, specs] : examples) all.insert(all.end(), specs.begin(), specs.end());
  return all;
}

template <typename Policy>
void ExpectAnExamplePerRow(const Registry<Policy>& registry, const Examples& examples) {
  const std::vector<std::string> names = registry.names();
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const auto found = examples.find(name);
    EXPECT_TRUE(found != examples.end() && !found->second.empty())
        << registry.kind() << " \"" << name << "\" has a row in builtin.def and no example in tests/contract";
  }
  for (const auto& [name, specs] : examples) {
    EXPECT_TRUE(std::ranges::find(names, name) != names.end())
        << registry.kind() << " \"" << name << "\" has no row";
  }
}

TEST(PoliciesTest, EveryRowHasAnExample) {
  ExpectAnExamplePerRow(BuiltinSyncModels(), SyncExamples());
  ExpectAnExamplePerRow(BuiltinExchanges(), ExchangeExamples());
  ExpectAnExamplePerRow(BuiltinOptimizers(), OptimizerExamples());
  ExpectAnExamplePerRow(BuiltinPlacements(), PlacementExamples());
}

// One step of an optimizer over n values, with inputs kept to see that they stay as they were.
struct ContractStep {
  ContractStep(const Optimizer& optimizer, std::size_t n, float w, float g, const Hyper& hyper)
      : w_in(n, w), g_in(n, g), w_out(n, -1.0F) {
    const auto slots = static_cast<std::size_t>(optimizer.slots());
    slots_in.assign(slots, std::vector<float>(n, 0.25F));
    slots_out.assign(slots, std::vector<float>(n, -1.0F));
    std::vector<std::span<const float>> in(slots_in.begin(), slots_in.end());
    std::vector<std::span<float>> out(slots_out.begin(), slots_out.end());
    finite = optimizer.Step({.w = w_in, .g = g_in, .step = 2, .hyper = hyper, .slots = in},
                            {.w = w_out, .slots = out});
  }
  std::vector<float> w_in, g_in, w_out;
  std::vector<std::vector<float>> slots_in, slots_out;
  bool finite = false;
};

TEST(OptimizerContractTest, FiniteInGivesFiniteOutAndInputsStayAsTheyWere) {
  for (const std::string& spec : AllSpecs(OptimizerExamples())) {
    const auto optimizer = BuiltinOptimizers().MakeFromSpec(spec);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    for (const std::size_t n : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
      const ContractStep step(**optimizer, n, 0.5F, -2.0F, {.weight_decay = 0.1F});
      EXPECT_TRUE(step.finite) << spec;
      EXPECT_TRUE(std::ranges::all_of(step.w_out, [](float x) { return std::isfinite(x) && x != -1.0F; }))
          << spec;
      EXPECT_EQ(step.w_in, std::vector<float>(n, 0.5F)) << spec;
      EXPECT_EQ(step.g_in, std::vector<float>(n, -2.0F)) << spec;
      for (std::size_t s = 0; s < step.slots_in.size(); ++s) {
        EXPECT_EQ(step.slots_in[s], std::vector<float>(n, 0.25F)) << spec;
        EXPECT_TRUE(std::ranges::all_of(step.slots_out[s], [](float x) {
          return std::isfinite(x) && x != -1.0F;
        })) << spec;
      }
      // Every value is treated alike, wherever a vector ends.
      EXPECT_LE(std::set<float>(step.w_out.begin(), step.w_out.end()).size(), 1U) << spec << " n " << n;
    }
  }
}

TEST(OptimizerContractTest, ANonFiniteGradientOrValueIsTold) {
  for (const std::string& spec : AllSpecs(OptimizerExamples())) {
    const auto optimizer = BuiltinOptimizers().MakeFromSpec(spec);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      EXPECT_FALSE(ContractStep(**optimizer, 5, 0.5F, bad, {}).finite) << spec;
      // mean does not read the values it replaces.
      if (spec != "mean") {
        EXPECT_FALSE(ContractStep(**optimizer, 5, bad, 0.5F, {}).finite) << spec;
      }
    }
  }
}

TEST(OptimizerContractTest, AZeroGradientWithoutDecayLeavesStatelessOptimizersUnmoved) {
  for (const char* spec : {"sgd", "sum"}) {
    const auto optimizer = BuiltinOptimizers().MakeFromSpec(spec);
    ASSERT_TRUE(optimizer.ok()) << optimizer.status().ToString();
    const ContractStep step(**optimizer, 9, 0.3F, 0.0F, {.weight_decay = 0.0F});
    EXPECT_EQ(step.w_out, step.w_in) << spec;
  }
}

}  // namespace
}  // namespace leeway
