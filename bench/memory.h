// The memory bench: how fast a large model reaches its workers, and whether a job grows as it trains.
#pragma once

#include <optional>
#include <string>

#include "busy.h"
#include "first_iteration.h"
#include "flatness.h"
#include "leeway/status.h"

namespace leeway::bench {

struct MemoryOptions {
  std::optional<FirstIterationOptions> first;
  std::optional<FlatnessOptions> flat;
};

struct MemoryReport {
  std::optional<FirstIterationReport> first;
  std::optional<FlatnessReport> flat;
  Busy busy;
};

// Forks: call it before the process has threads.
[[nodiscard]] Result<MemoryReport> RunMemory(const MemoryOptions& options);
// One line for each figure that grew beyond its floor (floors.h); empty: none did.
[[nodiscard]] std::string TooMuch(const MemoryReport& report);
[[nodiscard]] std::string ToJson(const MemoryReport& report);
[[nodiscard]] std::string ToText(const MemoryReport& report);

}  // namespace leeway::bench
