#include "role/job_display.h"

#include <algorithm>
#include <utility>

namespace leeway::app {

void JobDisplay::Add(const std::string& status_json, double now_s) {
  Result<JobStatus> status = ParseJobStatus(status_json);
  if (!status.ok()) return;
  if (status->phase != "gathering" && !gathered_s_) gathered_s_ = now_s;
  progress_.Add(*status, now_s);
  status_ = std::move(*status);
}

std::string JobDisplay::Line(const std::string& status_json, double now_s) {
  Add(status_json, now_s);
  return status_ ? progress_.Line(now_s) : "";
}

std::string JobDisplay::Summary(const std::string& status_json, const Status& ended, double now_s) {
  Add(status_json, now_s);
  Outcome outcome;
  outcome.exit_code = ExitCode(ended);
  outcome.why = ended.message();
  outcome.stopped = ended.code() == StatusCode::kCancelled;
  const double gathered_s = std::min(gathered_s_.value_or(now_s), now_s);
  outcome.times = {gathered_s, now_s - gathered_s, 0};
  outcome.status = status_;
  outcome.status_json = status_json;
  return SummaryText(outcome);
}

}  // namespace leeway::app
