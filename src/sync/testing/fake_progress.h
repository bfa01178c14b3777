// FakeProgress: a ProgressView with values that a test sets, and a model that reads it. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "leeway/sync_model.h"
#include "sync/sync_policy.h"

namespace leeway {

class FakeProgress final : public ProgressView {
 public:
  std::uint32_t count = 0, members = 4, taken = 0;
  std::int64_t fastest = -1, slowest = -1;
  std::map<std::uint32_t, std::int64_t> interval_ns;
  std::optional<std::uint32_t> last_slowest, last_fastest;

  std::uint32_t CountAt(Iteration) const override { return count; }
  std::uint32_t MembersAt(Iteration) const override { return members; }
  std::optional<Iteration> ProgressOf(WorkerId) const override { return std::nullopt; }
  Iteration Fastest() const override { return Iteration(fastest); }
  Iteration Slowest() const override { return Iteration(slowest); }
  std::optional<Duration> PushInterval(WorkerId worker) const override {
    const auto found = interval_ns.find(worker.value());
    if (found == interval_ns.end()) return std::nullopt;
    return Duration(found->second);
  }
  std::optional<WorkerId> LastSlowest() const override { return Id(last_slowest); }
  std::optional<WorkerId> LastFastest() const override { return Id(last_fastest); }
  std::uint32_t TakenSinceAdvance() const override { return taken; }

 private:
  static std::optional<WorkerId> Id(std::optional<std::uint32_t> worker) {
    return worker ? std::optional(WorkerId(*worker)) : std::nullopt;
  }
};

// A model with its memory, on a FakeProgress.
class AskedModel {
 public:
  explicit AskedModel(const std::string& spec) {
    Result<SyncPolicy> policy = MakeSyncPolicy(BuiltinSyncModels(), spec);
    EXPECT_TRUE(policy.ok()) << policy.status().ToString();
    policy_ = std::move(policy).value();
  }
  const SyncModel* operator->() const { return policy_.model.get(); }

  // Whether a pull for this progress is answered now.
  bool Pull(std::int64_t worker_progress, std::uint32_t worker = 0) {
    return policy_.model->OnPull(View(), memory, WorkerId(worker), Iteration(worker_progress)) ==
           PullVerdict::kNow;
  }
  // "yes", "no", or the time in ns.
  std::string Push() {
    const Advance may = policy_.model->MayAdvance(View(), memory);
    if (may.kind == Advance::Kind::kYes) return "yes";
    if (may.kind == Advance::Kind::kNo) return "no";
    return std::to_string(may.at.time_since_epoch().count());
  }

  FakeProgress progress;
  Memory memory;
  std::int64_t v_train = 0, now_ns = 0, advanced_at_ns = 0;
  double coin = 1.0, significance = 1.0;

 private:
  SyncView View() const {
    return {.now = TimePoint(Duration(now_ns)),
            .v_train = Iteration(v_train),
            .advanced_at = TimePoint(Duration(advanced_at_ns)),
            .progress = progress,
            .significance = significance,
            .coin = coin};
  }

  SyncPolicy policy_;
};

}  // namespace leeway
