// Models that have a worker do something by itself, for tests: they answer and advance as bsp does, or as
// asp.
//
//   test_skips    test_bounded:d    test_cached:s
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/registry.h"
#include "leeway/sync_model.h"

namespace leeway::testing {

class RuleModel final : public SyncModel {
 public:
  // `first`: an iteration ends with so many contributions; 0: with all.
  RuleModel(const WorkerRule& rule, bool waits, std::uint32_t first)
      : rule_(rule), waits_(waits), first_(first) {}

  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return !waits_ || progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    const std::uint32_t all = view.progress.MembersAt(view.v_train);
    const std::uint32_t wanted = first_ == 0 ? all : std::min(first_, all);
    return view.progress.CountAt(view.v_train) >= wanted ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override {
    return waits_ ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  const char* DefaultApply() const override { return waits_ ? "aggregate" : "immediate"; }
  WorkerRule ForWorker() const override { return rule_; }
  std::string PullCondition() const override { return waits_ ? "progress < v_train" : "always"; }
  std::string PushCondition() const override { return "as the test says"; }

 private:
  const WorkerRule rule_;
  const bool waits_;
  const std::uint32_t first_;
};

inline void AddRuleModels(Registry<SyncModel>& models) {
  models.Add("test_skips", [](const PolicyConfig& config) -> Result<SyncModelPtr> {
    LW_ASSIGN_OR_RETURN(const std::int64_t n, config.IntInRange("n", 0, 1000, 0));
    return SyncModelPtr(
        std::make_unique<RuleModel>(WorkerRule{.skips_ahead = true}, true, static_cast<std::uint32_t>(n)));
  });
  models.Add("test_bounded", [](const PolicyConfig& config) -> Result<SyncModelPtr> {
    LW_ASSIGN_OR_RETURN(const std::int64_t d, config.IntInRange("d", 0, 1000));
    return SyncModelPtr(std::make_unique<RuleModel>(WorkerRule{.unsettled_max = d}, false, 0));
  });
  models.Add("test_cached", [](const PolicyConfig& config) -> Result<SyncModelPtr> {
    LW_ASSIGN_OR_RETURN(const std::int64_t s, config.IntInRange("s", 0, 1000));
    return SyncModelPtr(std::make_unique<RuleModel>(WorkerRule{.cache_age_max = s}, true, 0));
  });
}

}  // namespace leeway::testing
