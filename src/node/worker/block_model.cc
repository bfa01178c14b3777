#include "node/worker/block_model.h"

#include "block/apply_mode.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

// Live switches may bring ever new specs: above this many, those that no block has are forgotten.
constexpr std::size_t kModelsKept = 64;

}  // namespace

Result<BlockModelRef> BlockModels::Find(const std::string& sync, const std::string& apply) {
  const auto key = std::make_pair(sync, apply);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  auto model = std::make_shared<BlockModel>();
  if (!sync.empty()) {
    LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(models_, sync));
    LW_ASSIGN_OR_RETURN(const ApplyMode mode, MakeApplyMode(apply, *policy.model));
    model->sync = sync;
    model->rule = policy.model->ForWorker();
    model->relay = mode.relay;
    const bool aggregates = mode.kind == ApplyMode::Kind::kAggregate;
    model->drops_late = model->rule.skips_ahead && LateOf(policy, aggregates) == Late::kDrop;
    // Of pssp by alpha=significance, and of formulas: both name it in their spec, and nothing else does.
    model->wants_significance = sync.find("significance") != std::string::npos;
  }
  if (known_.size() >= kModelsKept)
    std::erase_if(known_, [](const auto& entry) { return entry.second.use_count() == 1; });
  return known_[key] = std::move(model);
}

}  // namespace leeway
