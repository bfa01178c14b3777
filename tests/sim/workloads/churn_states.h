// The states that lives of the churn workload give to checkpoints, and the check of the checkpoints at the
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "leeway/ids.h"
#include "sim/disk.h"
#include "sim/seeded_random.h"
#include "sim/workloads/churn_books.h"
#include "sim/workloads/churn_plan.h"

namespace leeway::sim {

// A life's reaction when a checkpoint wants its state.
enum class StateHabit : std::uint8_t {
  kNone,  // says that it has no state
  kGives,
  kSilent,  // never answers
};
[[nodiscard]] StateHabit DrawStateHabit(SeededRandom& random);

// A state that names its rank and its iteration, and has `more` further bytes.
[[nodiscard]] std::shared_ptr<const std::vector<std::byte>> ChurnState(std::uint32_t rank,
                                                                       Iteration iteration, std::size_t more);

// Checks that every complete checkpoint on the disk has the states that its ranks gave, of the right
// iteration.
void CheckChurnStates(const Disk& disk, const ChurnPlan& plan, ChurnBooks& books);

}  // namespace leeway::sim
