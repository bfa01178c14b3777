// The names of a condition, and the grid of states that a new one is tried on.
//
// A condition that is false everywhere on the grid would let nobody pass, and one that is no finite number
// somewhere has no answer there; a push condition that is false once everybody waits stops the job. All are
// refused when they are set, not found out in a running job.
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
  kCount,    // of them, whose contribution is in
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

// Wants a state in which the slowest or the fastest worker is let go. Leaves the variables as it likes.
[[nodiscard]] Status TryPullCondition(Formula& formula);
// Wants a state in which everybody's contribution is in and the block goes on.
[[nodiscard]] Status TryPushCondition(Formula& formula);
// Wants no state in which everybody's contribution is in, everybody waits, and the block does not go on.
[[nodiscard]] Status TryConditionsTogether(Formula& pull, Formula& push);

}  // namespace leeway
