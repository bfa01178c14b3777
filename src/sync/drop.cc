// drop: an iteration ends with the first `n` contributions; slower workers are late (FluentPS, Table III,
// "drop stragglers"; the backup workers of Chen et al. 2016).
#include <fmt/format.h>

#include <algorithm>

#include "base/policy_config.h"
#include "leeway/sync_model.h"

namespace leeway {
namespace {

class Drop final : public SyncModel {
 public:
  explicit Drop(std::uint32_t n) : n_(n) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    // Members may leave until fewer than n are left, so n alone could never be reached.
    const std::uint32_t wanted = std::min(n_, view.MembersAt(view.v_train));
    return view.CountAt(view.v_train) >= wanted ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::uint32_t WorkersNeeded() const override { return n_; }
  WorkerRule ForWorker() const override { return {.skips_ahead = true}; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return fmt::format("count >= min({}, members)", n_); }

 private:
  const std::uint32_t n_;
};

}  // namespace

Result<SyncModelPtr> MakeDrop(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t n, config.IntInRange("n", 1, 1'000'000));
  return SyncModelPtr(std::make_unique<Drop>(static_cast<std::uint32_t>(n)));
}

}  // namespace leeway
