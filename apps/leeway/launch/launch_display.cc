#include "launch/launch_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "status/same_batches.h"
#include "status/who_waits.h"

namespace leeway::app {
namespace {

constexpr std::chrono::milliseconds kBarEvery{200};

}  // namespace

LaunchDisplay::LaunchDisplay(const LaunchOptions& options, Screen& screen)
    : options_(options), screen_(screen), progress_(options.scheduler.job.workers) {}

void LaunchDisplay::Say(const std::string& line) { screen_.Line(STDERR_FILENO, "leeway: ", line); }

void LaunchDisplay::ShowText(int fd, const std::string& prefix, std::string text) {
  text.pop_back();  // Line adds its end of line.
  screen_.Line(fd, prefix, text);
}

void LaunchDisplay::Add(const JobStatus& status, double at_s) {
  progress_.Add(status, at_s);
  if (hinted_) return;
  const std::string hint = SameBatchesText(status);
  hinted_ = !hint.empty();
  if (hinted_) Say(hint);
}

void LaunchDisplay::ShowProgress(std::chrono::steady_clock::time_point now, double at_s) {
  if (options_.quiet || now - shown_ < (screen_.terminal() ? kBarEvery : options_.line_every)) return;
  if (screen_.terminal()) {
    screen_.Bar(progress_.Bar(at_s, Screen::BarColumns()));
  } else {
    Say(progress_.Line(at_s));
  }
  shown_ = now;
}

void LaunchDisplay::ShowWhoWaits(const JobStatus* status) {
  ShowText(STDERR_FILENO, "",
           status != nullptr ? WhoWaitsText(*status) : "The scheduler has not said anything yet.\n");
}

void LaunchDisplay::ShowEnd(const Outcome& outcome, bool script_failed,
                            const std::optional<FailedWorker>& worker) {
  const bool failed = !outcome.why.empty() && !outcome.stopped;
  const bool of_script = script_failed || (failed && outcome.NobodyJoined());
  // Of a job that failed before anything happened, the line below says all that the summary would say.
  const bool says_more = !failed || outcome.lives.Eventful() || !outcome.events.all().empty();
  if (!options_.quiet && !of_script && says_more) ShowText(STDOUT_FILENO, "\n", SummaryText(outcome));
  if (failed && worker) {
    const std::string prefix = options_.prefix ? fmt::format("[w{}] ", worker->rank) : "";
    for (const std::string& line : worker->last_lines()) screen_.Line(STDERR_FILENO, prefix, line);
    if (!worker->hint.empty()) Say(worker->hint);
  }
  if (failed) Say(fmt::format("job failed after {:.1f} s: {}", outcome.times.total_s(), outcome.why));
  if (outcome.lost_rank) {
    const Life& lost = outcome.lives.workers()[*outcome.lost_rank].back();
    Say(fmt::format(
        "the job came to its end, but without worker {}, which ended with {}: its exit code is the "
        "job's, unless --on-worker-loss says what to do about losses",
        *outcome.lost_rank, DescribeEnd(lost.how)));
  }
}

}  // namespace leeway::app
