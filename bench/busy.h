// Busy: what share of the machine others used, just before a bench and during it, and how steadily a core
// runs.
//
// A figure taken beside somebody's compiler is no figure of a quiet machine; every bench says which it is.
#pragma once

#include <chrono>
#include <string>

#include "cpu.h"
#include "json_line.h"

namespace leeway::bench {

// How often, and for how long, a thread that does nothing but look at the clock loses its core: to the
// kernel's tick, to other threads, to the host of a virtual machine. A figure in microseconds, a p99 above
// all, is the machine's own where this is large.
struct CoreGaps {
  double per_s = 0;  // gaps of at least 5 microseconds
  double share = 0;  // of the time, 0 to 1
};
// Spins on the calling thread for so long. REQUIRES: more than none.
[[nodiscard]] CoreGaps MeasureCoreGaps(std::chrono::nanoseconds time);

struct Busy {
  double before = 0, during = 0;  // shares of all cores, 0 to 1
  CoreGaps gaps = {};             // of one core, just before
  [[nodiscard]] double worst() const { return before > during ? before : during; }
};

// Above it a bench says so.
inline constexpr double kBusyMax = 0.1;
inline constexpr double kGapsShareMax = 0.01;

// Starts when a bench does, with a look at the machine of 0.5 s.
class BusyMeter {
 public:
  BusyMeter();
  // REQUIRES: the bench's processes have all ended and were waited for, else they count as others.
  [[nodiscard]] Busy End() const;

 private:
  const double before_;
  const CoreGaps gaps_;
  const MachineTime machine_;
  const double own_s_;
};

// busy (the worse of the two), busy_before, busy_during, gaps_s, gaps_share and cores.
[[nodiscard]] JsonLine JsonOf(const Busy& busy);
// A line for each: the machine was not quiet, a core does not run steadily, there is but one. Else nothing.
[[nodiscard]] std::string TextOf(const Busy& busy);

}  // namespace leeway::bench
