#include "status/last_status.h"

#include <utility>

namespace leeway::app {

bool LastStatus::Take(const std::string& json, double at_s) {
  Result<JobStatus> status = ParseJobStatus(json);
  if (!status.ok()) return false;
  // A job may end without having gathered.
  const bool gathered = status->phase == "running" || status->gathered_after_s;
  if (gathered && !gathered_s_) gathered_s_ = at_s;
  status_ = *std::move(status);
  json_ = json;
  at_ = std::chrono::steady_clock::now();
  return true;
}

}  // namespace leeway::app
