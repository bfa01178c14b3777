// The scale bench: several workers and servers against one of each, on the same two cores, in one run.
//
// `leeway bench sync` measures the cost of a push with up to 1,024 workers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "busy.h"
#include "figures.h"
#include "leeway/status.h"
#include "pushpull.h"

namespace leeway::bench {

struct ScaleSize {
  std::uint32_t workers = 1, servers = 1;
};
// The first is what the others are compared with.
inline constexpr std::array<ScaleSize, 3> kScaleSizes = {{{1, 1}, {2, 2}, {8, 2}}};

struct ScaleRow {
  ScaleSize size;
  PushPullFigures figures;
  Figure ratio;  // of the pairs per second of all workers together, turn by turn, to those of 1 + 1
};

struct ScaleReport {
  PushPullOptions options;  // with nothing left at 0; workers and servers mean nothing
  std::vector<ScaleRow> rows;
  Busy busy;
};

// Forks: call it before the process has threads.
[[nodiscard]] Result<ScaleReport> RunScale(const PushPullOptions& options);
[[nodiscard]] std::string ToJson(const ScaleReport& report);
[[nodiscard]] std::string ToText(const ScaleReport& report);

}  // namespace leeway::bench
