// bounded: a worker begins iteration i once all its pushes up to i - d - 1 have verdicts (ps-lite's bounded
// delay). The worker decides; blocks answer every pull at once, so release does not apply.
#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

class Bounded final : public SyncModel {
 public:
  explicit Bounded(std::int64_t d) : d_(d) {}
  PullVerdict OnPull(const SyncView&, Memory&, WorkerId, Iteration) const override {
    return PullVerdict::kNow;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  // The model bounds a worker's distance from its own verdicts, not from other workers.
  std::optional<std::int64_t> Lead() const override { return std::nullopt; }
  const char* DefaultApply() const override { return "immediate"; }
  WorkerRule ForWorker() const override { return {.unsettled_max = d_}; }
  std::string PullCondition() const override { return "always"; }
  std::string PushCondition() const override { return kEveryoneIsIn; }

 private:
  const std::int64_t d_;
};

}  // namespace

Result<SyncModelPtr> MakeBounded(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t d, config.IntInRange("d", 0, 1'000'000));
  return SyncModelPtr(std::make_unique<Bounded>(d));
}

}  // namespace leeway
