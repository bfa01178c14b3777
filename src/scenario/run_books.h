// RunBooks: the notes of one run's workers while it goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/worker.h"
#include "node/worker/overlap_account.h"
#include "scenario/run_record.h"

namespace leeway::scenario {

// One iteration of one worker, in simulated time since the world began.
struct Step {
  std::uint32_t rank = 0;
  std::uint32_t iteration = 0;
  Duration asked{}, began{}, ended{};
  Duration first{};  // it had the table that it uses first
};

// The counters of servers that died: verdicts, delayed pulls, answers taken back.
struct LostCounts {
  std::uint64_t taken = 0, late_dropped = 0, delayed = 0, withdrawn = 0;
};

struct RunBooks {
  std::vector<std::string> errors;
  Duration origin = Duration::max();  // the first worker began
  std::function<void()> begun;        // called then
  Duration over{0};                   // the last gradient was pushed
  std::vector<Step> steps;
  std::uint64_t drawn = 0;        // from the pool
  std::uint64_t judged_at = 0;    // the number of steps at which the last judgement was due
  std::vector<CurvePoint> curve;  // its seconds are since the world began
  // At the end; NaN if no worker reached it.
  double loss = std::numeric_limits<double>::quiet_NaN(), accuracy = std::numeric_limits<double>::quiet_NaN();
  WorkerCounters workers;    // of all together, as far as they are read
  OverlapTimes overlap;      // the same
  std::uint64_t deaths = 0;  // of processes
  std::uint64_t lost_workers = 0, lost_servers = 0, restores = 0;
  LostCounts lost_with_servers;
  Duration longest{0};          // compute time of an iteration
  std::uint32_t computing = 0;  // workers that are in an iteration
  std::uint32_t training = 0;   // ... that have not done their last one
  std::uint32_t present = 0;    // ... that have not left
};

}  // namespace leeway::scenario
