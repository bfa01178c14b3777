// JobDisplay: what a scheduler that was started by hand shows of its job: a line every few seconds, and a
// summary at the end. The launcher shows the same, and what it knows of processes.
//
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "leeway/status.h"
#include "status/last_status.h"
#include "status/progress.h"

namespace leeway::app {

class JobDisplay {
 public:
  explicit JobDisplay(std::uint32_t workers) : progress_(workers) {}

  // A status of the job -> one line of progress; empty: the status says nothing.
  [[nodiscard]] std::string Line(const std::string& status_json, double now_s);
  // The job has ended so.
  [[nodiscard]] std::string Summary(const std::string& status_json, const Status& ended, double now_s);

  static constexpr std::chrono::milliseconds kEvery{5'000};

 private:
  void Add(const std::string& status_json, double now_s);

  Progress progress_;
  LastStatus last_;
};

}  // namespace leeway::app
