// What every policy must do, run over every row of each builtin.def. A row joins by having an example spec
// here; a row without one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "block/hand_fed_block.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using Examples = std::map<std::string, std::vector<std::string>>;

Examples SyncExamples() {
  return {{"asp", {"asp", "asp:scope=server"}},
          {"bsp", {"bsp", "bsp:release=soft", "bsp:late=apply"}},
          {"ssp", {"ssp:0", "ssp:3", "ssp:s=1,release=soft"}}};
}
Examples OptimizerExamples() {
  return {{"adam", {"adam"}},         {"adamw", {"adamw"}}, {"mean", {"mean"}}, {"momentum", {"momentum"}},
          {"nesterov", {"nesterov"}}, {"sgd", {"sgd"}},     {"sum", {"sum"}}};
}
Examples PlacementExamples() { return {{"round_robin", {"round_robin"}}}; }

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
        << registry.kind() << " \"" << name
        << "\" has a row in builtin.def and no example in tests/contract/policies_test.cc";
  }
  for (const auto& [name, specs] : examples) {
    EXPECT_TRUE(std::ranges::find(names, name) != names.end())
        << registry.kind() << " \"" << name << "\" has no row";
  }
}

TEST(PoliciesTest, EveryRowHasAnExample) {
  ExpectAnExamplePerRow(BuiltinSyncModels(), SyncExamples());
  ExpectAnExamplePerRow(BuiltinOptimizers(), OptimizerExamples());
  ExpectAnExamplePerRow(BuiltinPlacements(), PlacementExamples());
}

// Every apply mode that fits a sync model.
std::vector<std::string> ApplyModesFor(const std::string& sync) {
  const auto policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
  std::vector<std::string> fit;
  for (const char* apply : {"immediate", "aggregate", "aggregate:reduce=ordered"}) {
    if (MakeApplyMode(apply, *policy->model).ok()) fit.emplace_back(apply);
  }
  EXPECT_FALSE(fit.empty()) << sync;
  return fit;
}

// Workers that push, pull and wait for the answer as real ones do, in a seeded order of who moves next. A
// move that got WINDOW is made again.
class PushingWorkers {
 public:
  PushingWorkers(const std::string& sync, const std::string& apply, std::uint32_t workers, std::uint64_t seed)
      : block_({.sync = sync, .apply = apply}), state_(workers), random_(seed) {
    block_.Begin(workers);
  }
  HandFedBlock& block() { return block_; }
  const std::vector<std::string>& transcript() const { return transcript_; }

  // The worker with the next turn does its next thing, unless it waits. Returns whether it did.
  bool Move(std::uint32_t w) {
    State& s = state_[w];
    if (s.gone || s.waits || s.iteration >= kIterations) return false;
    if (draw(5) == 0) {
      block_.Absent(w, s.iteration);
    } else {
      block_.Push(w, s.iteration);
    }
    const std::string verdict = Listen(w);
    EXPECT_TRUE(verdict == "APPLIED" || verdict == "SUMMED" || verdict == "ABSENT") << verdict;
    s.waits = true;
    block_.Pull(w, s.iteration);
    ++s.iteration;
    Listen(w);
    return true;
  }
  void Leave(std::uint32_t w) {
    state_[w].gone = true;
    block_.Leave(w).Roster();
    Listen(w);
  }
  // Until nobody can move.
  void RunToTheEnd() {
    for (int moves = 0; moves < 100'000; ++moves) {
      const auto start = draw(state_.size());
      bool moved = false;
      for (std::size_t i = 0; i < state_.size() && !moved; ++i) {
        moved = Move(static_cast<std::uint32_t>((start + i) % state_.size()));
      }
      if (!moved) return;
    }
    ADD_FAILURE() << "does not come to an end";
  }
  void RunMoves(int moves) {
    for (int i = 0; i < moves; ++i) Move(static_cast<std::uint32_t>(draw(state_.size())));
  }
  void ExpectAllDone(const std::string& what) const {
    for (std::size_t w = 0; w < state_.size(); ++w) {
      if (state_[w].gone) continue;
      EXPECT_EQ(state_[w].iteration, kIterations) << what << ": worker " << w << " hangs";
      EXPECT_FALSE(state_[w].waits) << what << ": worker " << w << " waits for its last pull";
    }
  }
  static constexpr std::int64_t kIterations = 12;

 private:
  struct State {
    std::int64_t iteration = 0;
    bool waits = false, gone = false;
  };
  std::uint64_t draw(std::uint64_t n) { return (random_ = Mix64(random_)) % n; }
  // Notes who was answered; returns the verdict that worker w got, if any.
  std::string Listen(std::uint32_t w) {
    std::string verdict;
    for (const std::string& line : block_.Heard()) {
      transcript_.push_back(line);
      const std::string word = line.substr(0, line.find(' '));
      const auto who = static_cast<std::uint32_t>(std::stoul(line.substr(line.find(' ') + 1)));
      if (word == "ANSWER" || word == "UNCHANGED") {
        state_[who].waits = false;
      } else if (who == w) {
        verdict = word;
      }
    }
    return verdict;
  }

  HandFedBlock block_;
  std::vector<State> state_;
  std::uint64_t random_;
  std::vector<std::string> transcript_;
};

TEST(SyncContractTest, EveryPullIsAnsweredInTheEndIfEveryoneKeepsPushing) {
  for (const std::string& sync : AllSpecs(SyncExamples())) {
    for (const std::string& apply : ApplyModesFor(sync)) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        PushingWorkers job(sync, apply, 5, seed);
        job.RunToTheEnd();
        job.ExpectAllDone(sync + " " + apply);
        EXPECT_EQ(job.block()->v_train(), Iteration(PushingWorkers::kIterations)) << sync << " " << apply;
        EXPECT_EQ(job.block()->waiting(), 0U);
      }
    }
  }
}

TEST(SyncContractTest, MembersThatLeaveAtAnyPointHoldNobody) {
  for (const std::string& sync : AllSpecs(SyncExamples())) {
    for (const std::string& apply : ApplyModesFor(sync)) {
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        PushingWorkers job(sync, apply, 5, seed);
        job.RunMoves(static_cast<int>(seed * 2));
        job.Leave(static_cast<std::uint32_t>(seed % 5));
        job.RunMoves(static_cast<int>(seed));
        job.Leave(static_cast<std::uint32_t>((seed + 2) % 5));
        job.RunToTheEnd();
        job.ExpectAllDone(sync + " " + apply);
        for (std::uint32_t w = 0; w < 5; ++w) job.Leave(w);
        EXPECT_EQ(job.block()->waiting(), 0U);
      }
    }
  }
}

TEST(SyncContractTest, TheSameEventsGetTheSameWords) {
  for (const std::string& sync : AllSpecs(SyncExamples())) {
    for (const std::string& apply : ApplyModesFor(sync)) {
      PushingWorkers first(sync, apply, 4, 5), second(sync, apply, 4, 5);
      first.RunToTheEnd();
      second.RunToTheEnd();
      EXPECT_GT(first.transcript().size(), 50U);
      EXPECT_EQ(first.transcript(), second.transcript()) << sync << " " << apply;
      EXPECT_EQ(first.block().values(), second.block().values()) << sync << " " << apply;
    }
  }
}

TEST(SyncContractTest, TheDefaultApplyModeFitsTheModel) {
  for (const std::string& sync : AllSpecs(SyncExamples())) {
    const auto policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
    ASSERT_TRUE(policy.ok()) << policy.status().ToString();
    EXPECT_TRUE(MakeApplyMode("", *policy->model).ok()) << sync;
  }
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

TEST(PlacementContractTest, EveryBlockIsOnAShardThatExistsAndShardsAreEvenWithinOne) {
  for (const std::string& spec : AllSpecs(PlacementExamples())) {
    const auto placement = BuiltinPlacements().MakeFromSpec(spec);
    ASSERT_TRUE(placement.ok()) << placement.status().ToString();
    for (const std::uint32_t servers : {1U, 2U, 3U}) {
      for (const std::uint32_t shards_each : {1U, 2U, 4U}) {
        std::vector<PlacedShard> shards;
        for (std::uint32_t s = 0; s < servers * shards_each; ++s)
          shards.push_back({ShardId(s), ServerId(s / shards_each)});
        // Tables come in rounds, of sizes that do not divide evenly.
        std::map<ShardId, std::uint32_t> load;
        for (const PlacedShard& shard : shards) load[shard.shard] = 0;
        std::uint32_t before = 0;
        for (const std::uint32_t round : {0U, 1U, 5U, 13U, 2U}) {
          std::vector<PlacedBlock> blocks;
          for (std::uint32_t b = 0; b < round; ++b)
            blocks.push_back({BlockId(before + b), TableId(round), 4096});
          const std::vector<ShardId> placed = (*placement)->Place(blocks, shards, before);
          ASSERT_EQ(placed.size(), blocks.size()) << spec;
          for (const ShardId shard : placed) {
            ASSERT_TRUE(load.contains(shard)) << spec << ": no shard " << shard.value();
            ++load[shard];
          }
          before += round;
        }
        const auto [low, high] =
            std::ranges::minmax_element(load, {}, [](const auto& l) { return l.second; });
        EXPECT_LE(high->second - low->second, 1U) << spec << " over " << shards.size() << " shards";
      }
    }
  }
}

}  // namespace
}  // namespace leeway
