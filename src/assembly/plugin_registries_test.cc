#include "assembly/plugin_registries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace leeway {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class FirstShard final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    return std::vector<ShardId>(blocks.size(), shards[0].shard);
  }
};

class Rounds final : public ExchangePolicy {
 public:
  explicit Rounds(std::int64_t k) : k_(k) {}
  bool IsDue(const ExchangeView& view) const override { return view.iteration() - view.exchanged() >= k_; }

 private:
  const std::int64_t k_;
};

Result<PlacementPtr> MakeFirstShard(const PolicyArguments&) {
  return PlacementPtr(std::make_unique<FirstShard>());
}
Result<ExchangePolicyPtr> MakeRounds(const PolicyArguments& arguments) {
  LW_ASSIGN_OR_RETURN(const std::int64_t k, arguments.IntInRange("k", 1, 100));
  return ExchangePolicyPtr(std::make_unique<Rounds>(k));
}
Result<OptimizerPtr> MakeNothing(const PolicyArguments&) { return OptimizerPtr(); }
Result<SyncModelPtr> Throw(const PolicyArguments&) { throw std::runtime_error("no luck"); }
Result<SyncModelPtr> ThrowANumber(const PolicyArguments&) { throw 7; }

TEST(AddPluginTest, PoliciesOfAPluginAreMadeFromSpecsLikeOthers) {
  Policies policies = Policies::Builtin();
  const Status added = AddPlugin(
      [](PluginRegistries& registries) {
        registries.AddPlacement("first_shard", MakeFirstShard);
        registries.AddExchange("rounds", MakeRounds);
      },
      policies);
  ASSERT_TRUE(added.ok()) << added.ToString();
  EXPECT_TRUE(policies.placements.MakeFromSpec("first_shard").ok());
  EXPECT_TRUE(policies.placements.MakeFromSpec("lpt").ok());
  EXPECT_TRUE(policies.exchanges.MakeFromSpec("rounds:3").ok());
  EXPECT_THAT(policies.exchanges.MakeFromSpec("rounds:0").status().message(),
              HasSubstr("exchange policy \"rounds\": k: got \"0\", wanted a whole number from 1 to 100"));
  EXPECT_THAT(policies.exchanges.MakeFromSpec("rounds:3,4").status().message(), HasSubstr("one too many"));
  EXPECT_THAT(policies.exchanges.MakeFromSpec("round:3").status().message(),
              HasSubstr("(did you mean \"rounds\"?)"));
}

TEST(AddPluginTest, APluginThatMakesAMistakeAddsNothing) {
  for (const auto& [plugin, says] : std::vector<std::pair<PluginFunction, const char*>>{
           {[](PluginRegistries& r) { r.AddPlacement("lpt", MakeFirstShard); },
            "it adds the placement \"lpt\", which exists already"},
           {[](PluginRegistries& r) {
              r.AddPlacement("twice", MakeFirstShard);
              r.AddPlacement("twice", MakeFirstShard);
            },
            "it adds the placement \"twice\", which exists already"},
           {[](PluginRegistries& r) { r.AddPlacement("two words", MakeFirstShard); },
            "\"two words\", wanted a name of letters"},
           {[](PluginRegistries& r) { r.AddPlacement("", MakeFirstShard); },
            "\"\", wanted a name of letters"},
           {[](PluginRegistries& r) { r.AddPlacement("a:3", MakeFirstShard); }, "\"a:3\", wanted a name"},
           {[](PluginRegistries& r) { r.AddSyncModel("mine", nullptr); },
            "the sync model \"mine\" without a factory"},
           {[](PluginRegistries&) { throw std::runtime_error("no luck"); },
            "it threw while it added its policies: no luck"},
           {[](PluginRegistries&) { throw 7; }, "it threw something that is no std::exception"},
       }) {
    Policies policies = Policies::Builtin();
    const std::vector<std::string> before = policies.placements.names();
    EXPECT_THAT(AddPlugin(plugin, policies).message(), HasSubstr(says));
    EXPECT_EQ(policies.placements.names(), before) << says;
  }
}

TEST(AddPluginTest, AFactoryThatThrowsOrMakesNothingGivesAnError) {
  Policies policies = Policies::Builtin();
  const Status added = AddPlugin(
      [](PluginRegistries& registries) {
        registries.AddOptimizer("nothing", MakeNothing);
        registries.AddSyncModel("throws", Throw);
        registries.AddSyncModel("throws_a_number", ThrowANumber);
      },
      policies);
  ASSERT_TRUE(added.ok()) << added.ToString();
  EXPECT_THAT(policies.sync.names(), Contains("throws"));
  EXPECT_THAT(policies.optimizers.MakeFromSpec("nothing").status().message(),
              HasSubstr("optimizer \"nothing\" of a plug-in: its factory made nothing"));
  EXPECT_THAT(policies.sync.MakeFromSpec("throws").status().message(),
              HasSubstr("sync model \"throws\" of a plug-in: its factory threw: no luck"));
  EXPECT_THAT(policies.sync.MakeFromSpec("throws_a_number").status().message(),
              HasSubstr("threw something that is no std::exception"));
}

}  // namespace
}  // namespace leeway
