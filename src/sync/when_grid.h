// The names of a condition, and the grid of states on which a new condition is tried.
//
// A condition that is false everywhere on the grid would let no worker pass. One that is not finite somewhere
// has no answer there. A push condition that is false once all workers wait stops the job. The job refuses
// all three when they are set, instead of failing later.
#pragma once

#include <string>
#include <vector>

#include "leeway/status.h"
#include "sync/formula.h"

namespace leeway {

// Places of the names in PullNames(); those up to kSlowest are also the places in PushNames().
enum ConditionName : std::size_t {
  kVTrain,
  kWorkers,  // members of iteration v_train
  kCount,    // members whose contribution is in
  kFastest,
  kSlowest,
  kProgress,  // of the pulling worker
  kGap,       // progress - v_train
  kSignificance,
  kRand,
};

[[nodiscard]] std::vector<std::string> PullNames();
[[nodiscard]] std::vector<std::string> PushNames();
// The names of a pull that a push condition has no use for.
[[nodiscard]] std::vector<ForeignName> NamesOfPullsOnly();

// Requires a state in which the slowest or the fastest worker passes. Leaves the variables with any values.
[[nodiscard]] Status TryPullCondition(Formula& formula);
// Requires a state in which every contribution is in and the block advances.
[[nodiscard]] Status TryPushCondition(Formula& formula);
// Refuses a state in which every contribution is in, all workers wait, and the block does not advance.
[[nodiscard]] Status TryConditionsTogether(Formula& pull, Formula& push);

}  // namespace leeway
