// TraceParts: the parts of a trace, one file for each process of a job, and the whole that becomes of them.
//
// The processes append to files in the folder of the parts, which stands beside the whole. They share a host,
// and so one clock. Merge puts their events into one file of Chrome's trace format, which ui.perfetto.dev
// opens. It does so whatever became of the processes: it leaves out a half line, and ends open spans.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

struct MergedTrace {
  std::size_t events = 0, processes = 0;
  std::size_t half_lines = 0;   // of processes that were killed, or had no room on the disk
  std::size_t ended_early = 0;  // processes that had as many events as they may have
};

class TraceParts {
 public:
  TraceParts() = default;
  // Makes the folder of the parts of the trace `file`; removes parts that a killed launcher left there.
  [[nodiscard]] static Result<TraceParts> Make(const std::string& file, const std::string& steps);
  // Whether a trace is wanted.
  [[nodiscard]] explicit operator bool() const { return !file_.empty(); }
  // The options that the processes get.
  [[nodiscard]] const TraceOptions& options() const { return options_; }
  // Writes the file, and removes the parts. Its times are microseconds since Make. Without any part no
  // process of the job has begun: the file, perhaps of an earlier run, stays as it is.
  [[nodiscard]] Result<MergedTrace> Merge() const;

 private:
  std::string file_;
  TraceOptions options_;
  std::chrono::steady_clock::time_point began_;
};

// One line for people.
[[nodiscard]] std::string ToText(const MergedTrace& merged, const std::string& file);

}  // namespace leeway::app
