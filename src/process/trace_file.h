// TraceFile: the part of a trace that one process writes (`leeway run --trace`), a JSON object a line.
//
// The lines are events of Chrome's trace format; the launcher puts those of all processes into one file.
// Lines are only appended. So a process that is killed loses the events since its last Flush, and leaves one
// half line at the most. A disk that is full ends the trace with one line in the log; the job goes on.
//
// Thread rule: any thread. A forked child adds nothing and writes nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/trace.h"

namespace leeway {

struct TraceWindow {
  Iteration from, to;  // from `from` on, and below `to`
};

// "100:120". An error names what was wanted.
[[nodiscard]] Result<TraceWindow> ParseTraceSteps(const std::string& text);

class TraceFile final : public Trace {
 public:
  // The name of the process, and those of its threads by their tracks.
  struct Names {
    std::string process;      // "worker 0"
    std::uint32_t order = 0;  // among the processes of a picture
    std::vector<std::pair<std::uint32_t, std::string>> threads;
  };

  // A file in the folder of the options, named after the process; null if they name none. A file that cannot
  // be made is no error: a line in `log` says so. REQUIRES: `log` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<TraceFile>> Open(const TraceOptions& options,
                                                               const Names& names, Log& log);
  // The same, at a path.
  TraceFile(const std::string& path, TraceWindow window, std::uint64_t events_max, const Names& names,
            Log& log);
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  [[nodiscard]] bool Wants(Iteration iteration) const override {
    return iteration >= window_.from && iteration < window_.to && !over_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] TimePoint Now() const override;
  void Add(const TraceEvent& event) override;
  void Flush() override;

 private:
  void AddNames(const Names& names);
  [[nodiscard]] bool IsForked() const;
  // With the lock.
  void AppendTo(std::string& lines, const TraceEvent& event) const;
  void Write();
  void End(const std::string& why);

  const TraceWindow window_;
  const std::uint64_t events_max_;
  const std::string path_;
  const int pid_;
  Log& log_;
  std::atomic<bool> over_{false};
  std::mutex mutex_;  // everything below
  int fd_ = -1;
  std::string lines_;  // not written yet
  std::uint64_t events_ = 0;
};

}  // namespace leeway
