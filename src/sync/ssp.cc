// SSP: a worker may run at most `s` iterations ahead of the slowest one (FluentPS, Table III). s = 0 is BSP.
#include <fmt/format.h>

#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

class Ssp final : public SyncModel {
 public:
  explicit Ssp(std::int64_t s) : s_(s) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train + s_ ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return s_; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override { return fmt::format("progress < v_train + {}", s_); }
  std::string PushCondition() const override { return kEveryoneIsIn; }

 private:
  const std::int64_t s_;
};

}  // namespace

Result<SyncModelPtr> MakeSsp(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t s, config.IntInRange("s", 0, 1'000'000));
  return SyncModelPtr(std::make_unique<Ssp>(s));
}

}  // namespace leeway
