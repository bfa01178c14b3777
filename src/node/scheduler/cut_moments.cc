#include "node/scheduler/cut_moments.h"

#include <algorithm>

#include "block/apply_mode.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

// Live switches may bring ever new specs.
constexpr std::size_t kPairsKept = 64;

}  // namespace

RankStates::Moment CutMoments::OfPair(const std::string& sync, const std::string& apply) {
  using Moment = RankStates::Moment;
  const auto key = std::make_pair(sync, apply);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Moment moment = Moment::kNearby;
  if (const Result<SyncPolicy> policy = MakeSyncPolicy(models_, sync); policy.ok()) {
    const Result<ApplyMode> mode = MakeApplyMode(apply, *policy->model);
    const bool aggregates = mode.ok() && mode->kind == ApplyMode::Kind::kAggregate;
    if (aggregates && !policy->model->SumsAhead())
      moment = policy->model->ForWorker().skips_ahead ? Moment::kSkipping : Moment::kExact;
  }
  if (known_.size() >= kPairsKept) known_.clear();
  return known_[key] = moment;
}

RankStates::Moment CutMoments::Of(const std::vector<TableRegistry::Entry>& tables) {
  using Moment = RankStates::Moment;
  // The enumeration goes from strict to loose, and the loosest table decides.
  Moment moment = Moment::kNone;
  for (const TableRegistry::Entry& entry : tables) {
    if (entry.spec.clock == TableClock::kOwn) continue;
    moment = std::max(moment, OfPair(entry.map.sync(), entry.map.apply()));
    for (const wire::pb::ServerSync& other : entry.map.of_servers())
      moment = std::max(moment, OfPair(other.sync(), other.apply()));
  }
  return moment;
}

}  // namespace leeway
