// The synchronization rules that workloads set while their jobs run.
#pragma once

#include <cstdint>
#include <string>

#include "sim/seeded_random.h"

namespace leeway::sim {

// `where` ("tables=always ", "server=0 ", or nothing) and any model in any apply mode that fits, among the
// models that a job of two workers may have.
[[nodiscard]] std::string DrawRule(const std::string& where, SeededRandom& random);

// A worker sets this rule when it begins this step, or the iteration of this number.
struct DrawnSwitch {
  std::uint32_t rank = 0;
  std::int64_t step = 0;
  std::string rule;
};

}  // namespace leeway::sim
