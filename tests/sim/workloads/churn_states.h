// The states that lives of the churn workload give to checkpoints, and what must be in those at the end.
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

// What a life does when a checkpoint wants its state.
enum class StateHabit : std::uint8_t {
  kNone,  // says that it has none
  kGives,
  kSilent,  // never answers
};
[[nodiscard]] StateHabit DrawStateHabit(SeededRandom& random);

// A state that says whose it is, and of when, and has `more` bytes besides.
[[nodiscard]] std::shared_ptr<const std::vector<std::byte>> ChurnState(std::uint32_t rank,
                                                                       Iteration iteration, std::size_t more);

// Every whole checkpoint on the disk has what its ranks gave, of the right iteration.
void CheckChurnStates(const Disk& disk, const ChurnPlan& plan, ChurnBooks& books);

}  // namespace leeway::sim
