#include "status/job_display.h"

#include <algorithm>

#include "status/summary.h"

namespace leeway::app {

void JobDisplay::Add(const std::string& status_json, double now_s) {
  if (last_.Take(status_json, now_s)) progress_.Add(*last_.get(), now_s);
}

std::string JobDisplay::Line(const std::string& status_json, double now_s) {
  Add(status_json, now_s);
  return last_.get() != nullptr ? progress_.Line(now_s) : "";
}

std::string JobDisplay::Summary(const std::string& status_json, const Status& ended, double now_s) {
  Add(status_json, now_s);
  Outcome outcome;
  outcome.exit_code = ExitCode(ended);
  outcome.why = ended.message();
  outcome.stopped = ended.code() == StatusCode::kCancelled;
  // The scheduler knows it to the moment; statuses are looked at every few seconds.
  const JobStatus* last = last_.get();
  // A scheduler that took the job over has run for a part of it, and figures of workers are of the whole.
  if (last != nullptr && last->took_over_s) now_s = std::max(now_s, last->uptime_s);
  const double gathered_s =
      std::min(last != nullptr && last->gathered_after_s ? *last->gathered_after_s
                                                         : last_.gathered_s().value_or(now_s),
               now_s);
  outcome.times = {gathered_s, now_s - gathered_s, 0};
  outcome.status = last_.status();
  outcome.status_json = status_json;
  return SummaryText(outcome);
}

}  // namespace leeway::app
