// LaunchDisplay: what a launch shows besides the output of its processes: progress, hints, the table of
// waits, and the end of the job. Borrows the screen and the options. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/launcher.h"
#include "status/progress.h"
#include "status/summary.h"
#include "terminal/screen.h"

namespace leeway::app {

// The worker whose end ended the job.
struct FailedWorker {
  std::uint32_t rank = 0;
  // Lines to show again, because others came after them. Called after the summary, which is among the others.
  std::function<std::vector<std::string>()> last_lines;
  std::string hint;  // empty: there is no hint
};

class LaunchDisplay {
 public:
  LaunchDisplay(const LaunchOptions& options, Screen& screen);

  void Say(const std::string& line);
  // A status came, so many seconds after the launch.
  void Add(const JobStatus& status, double at_s);
  // Draws the bar, or says a line of progress, if it is time to.
  void ShowProgress(std::chrono::steady_clock::time_point now, double at_s);
  // Null: the scheduler has not answered yet.
  void ShowWhoWaits(const JobStatus* status);
  // The summary. After a failure it is short, and after an error of a script it is left out: the last lines
  // of the worker and one line about the failure end the output.
  void ShowEnd(const Outcome& outcome, bool script_failed, const std::optional<FailedWorker>& worker);

 private:
  // Several lines, the last of them ended.
  void ShowText(int fd, const std::string& prefix, std::string text);

  const LaunchOptions& options_;
  Screen& screen_;
  Progress progress_;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
  bool hinted_ = false;  // at workers that train on the same batches
};

}  // namespace leeway::app
