// ASP: a block answers every pull at once, however far ahead its worker is (FluentPS, Table III).
#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

class Asp final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView&, Memory&, WorkerId, Iteration) const override {
    return PullVerdict::kNow;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return std::nullopt; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override { return "always"; }
  std::string PushCondition() const override { return kEveryoneIsIn; }
};

}  // namespace

Result<SyncModelPtr> MakeAsp(const PolicyConfig&) { return SyncModelPtr(std::make_unique<Asp>()); }

}  // namespace leeway
