// LastStatus: the newest status of a job, and when the job had gathered. Not thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "status/job_status.h"

namespace leeway::app {

class LastStatus {
 public:
  // `at_s`: seconds since the launch. False: the text is no status, and nothing changes.
  bool Take(const std::string& json, double at_s);

  // Null: there is no status yet.
  [[nodiscard]] const JobStatus* get() const { return status_ ? &*status_ : nullptr; }
  [[nodiscard]] const std::optional<JobStatus>& status() const { return status_; }
  // The text that it was made from.
  [[nodiscard]] const std::string& json() const { return json_; }
  // When it came.
  [[nodiscard]] std::chrono::steady_clock::time_point at() const { return at_; }
  // When the job had gathered; nothing: it has not, as far as is known.
  [[nodiscard]] std::optional<double> gathered_s() const { return gathered_s_; }

 private:
  std::optional<JobStatus> status_;
  std::string json_;
  std::chrono::steady_clock::time_point at_;
  std::optional<double> gathered_s_;
};

}  // namespace leeway::app
