// CutMoments: the kind of moment at which a checkpoint of the job's tables is cut. The synchronization that
// is in force decides, with all rules, on every server. Keeps results, since it is asked with every beat.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.h"
#include "leeway/sync_model.h"
#include "node/scheduler/rank_states.h"
#include "node/scheduler/table_registry.h"

namespace leeway {

class CutMoments {
 public:
  // Borrows the models for its life.
  explicit CutMoments(const Registry<SyncModel>& models) : models_(models) {}

  [[nodiscard]] RankStates::Moment Of(const std::vector<TableRegistry::Entry>& tables);

 private:
  [[nodiscard]] RankStates::Moment OfPair(const std::string& sync, const std::string& apply);

  const Registry<SyncModel>& models_;
  std::map<std::pair<std::string, std::string>, RankStates::Moment> known_;  // by sync and apply
};

}  // namespace leeway
