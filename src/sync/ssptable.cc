// ssptable: a worker reads its cache while it is at most `s` iterations old, and only then pulls (Bosen's
// SSPTable; Ho et al. 2013). For comparison with ssp, which pulls every time.
//
// Iteration progress + 1 needs values of v_train >= progress + 1 - s, which is ssp's condition.
#include <fmt/format.h>

#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

class SspTable final : public SyncModel {
 public:
  explicit SspTable(std::int64_t s) : s_(s) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train + s_ ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return s_; }
  const char* DefaultApply() const override { return "immediate"; }
  WorkerRule ForWorker() const override { return {.cache_age_max = s_}; }
  std::string PullCondition() const override {
    return fmt::format("progress < v_train + {}; asked when the cache is older", s_);
  }
  std::string PushCondition() const override { return kEveryoneIsIn; }

 private:
  const std::int64_t s_;
};

}  // namespace

Result<SyncModelPtr> MakeSsptable(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t s, config.IntInRange("s", 0, 1'000'000));
  return SyncModelPtr(std::make_unique<SspTable>(s));
}

}  // namespace leeway
