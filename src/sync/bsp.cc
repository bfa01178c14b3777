// BSP: no worker continues before every member's contribution is in (FluentPS, Table III).
#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

class Bsp final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return kEveryoneIsIn; }
};

}  // namespace

Result<SyncModelPtr> MakeBsp(const PolicyConfig&) { return SyncModelPtr(std::make_unique<Bsp>()); }

}  // namespace leeway
