// The sim bench: how many messages a second the simulated cluster delivers on one core, with few and with
// many workers, beside the bare event queue in the same run.
//
// The nodes are the real ones; the problem is AlexNet's sizes, a table to each of 16 servers, so that a
// message carries one block. Rows take turns; a figure is the median over the turns. Counted is what happens
// after two iterations of warm-up and while all workers train: what starting and ending a job costs is said
// beside.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "busy.h"
#include "figures.h"
#include "leeway/status.h"

namespace leeway::bench {

inline constexpr std::array<std::uint32_t, 3> kSimWorkers = {16, 128, 1024};
inline constexpr double kSimEventsMin = 400'000, kSimGrowthMax = 2.0;

struct SimOptions {
  // Of all workers together, in each row and turn; enough of them that the time says something.
  std::uint32_t steps = 10'240;
  std::uint32_t repeats = 3;
  std::string model = "alexnet";
};

struct SimRow {
  std::uint32_t workers = 0;
  std::uint64_t events = 0;  // messages that count, in one turn
  double events_s = 0;
  double spread = 0;  // of that over the turns
  double event_ns = 0;
  double simulated_s = 0;
  double train_wall_s = 0, start_wall_s = 0, end_wall_s = 0;
};

struct SimReport {
  SimOptions options;
  std::vector<SimRow> rows;   // as kSimWorkers
  double queue_events_s = 0;  // the event queue alone: nothing simulated can be faster
  double ratio = 0;           // of the row with the fewest workers to that
  Figure growth;              // nanoseconds per event, the slowest row of a turn over the fastest
  // A line of memory that nothing could fetch before, out of as much as few and as many workers keep.
  double near_line_ns = 0, far_line_ns = 0;
  Busy busy;
};

[[nodiscard]] Result<SimReport> RunSim(const SimOptions& options);
[[nodiscard]] std::string ToJson(const SimReport& report);
[[nodiscard]] std::string ToText(const SimReport& report);

}  // namespace leeway::bench
