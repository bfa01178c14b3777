#include "launch/role_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "terminal/quantity.h"

namespace leeway::app {
namespace {

// The loss of a server waits this long for news: that no worker needs it any more, that the job's first
// checkpoint is whole, that a worker has trained. Workers report once a second, and the status comes a moment
// later.
constexpr std::chrono::milliseconds kServerNews{1'500};
// How long a script may take to end after its session did.
constexpr std::chrono::milliseconds kScriptEnds{5'000};
// A new server is connected long before, if it ever is.
constexpr std::chrono::milliseconds kServerStart{5'000};

// Some worker has ended an iteration, as far as the last status knows.
bool HasTrained(const JobStatus* status) {
  return status != nullptr && std::ranges::any_of(status->workers, [](const WorkerStatus& worker) {
           return worker.iteration > 0;
         });
}

}  // namespace

RoleWatch::RoleWatch(const LaunchOptions& options, const JobCheckpoints& checkpoints,
                     std::string address_file, LaunchControl& control)
    : options_(options),
      checkpoints_(checkpoints),
      address_file_(std::move(address_file)),
      control_(control),
      restarts_(options.role_restart) {}

void RoleWatch::Start(JobRole role, std::uint32_t index, SteadyClock::time_point at) {
  began_[{role, index}] = at;
  control_.Start(role, index);
}

void RoleWatch::DropPending() {
  due_.clear();
  undecided_.clear();
}

void RoleWatch::OnEnded(const EndedProcess& ended, const JobNow& now) {
  const int exit_code = ended.end.exit_code;
  if (ended.role == JobRole::kScheduler && exit_code == 0) {
    scheduler_done_ = job_done_ = true;
    due_.clear();
    return;
  }
  if (exit_code == 0 || control_.IsEnding()) return;
  if (now.interrupting) {
    // The last worker may have been interrupted: no failure of the scheduler's.
    if (ended.role == JobRole::kScheduler) scheduler_done_ = true;
    return;
  }
  if (ended.role == JobRole::kServer && exit_code >= 128) {
    undecided_.push_back({ended, now.at});
    return;
  }
  OnLost(ended, false, now);
}

void RoleWatch::OnTime(const JobNow& now) {
  KillLostServers(now);
  std::erase_if(undecided_, [&](const ServerLoss& loss) { return Decide(loss, now); });
  StartDue(now);
}

bool RoleWatch::Decide(const ServerLoss& loss, const JobNow& now) {
  if (now.served || job_done_) {
    server_gone_ = true;
    const std::string who = NameOf(loss.ended.role, loss.ended.index);
    const std::string what =
        fmt::format("ended with {} when every worker had its final values", DescribeEnd(loss.ended.end));
    control_.Note(EventKind::kLost, who, what);
    control_.Say(fmt::format("{} {}: the job needs it no more", who, what));
    return true;
  }
  const bool waited = control_.IsFailing() || now.at >= loss.at + kServerNews;
  // A status from before the loss may not know yet that no worker needs the server.
  if (!waited && (now.status_at < loss.at || !CanPatch(now))) return false;
  OnLost(loss.ended, waited, now);
  return true;
}

void RoleWatch::OnLost(const EndedProcess& ended, bool waited, const JobNow& now) {
  const int exit_code = ended.end.exit_code;
  const std::string who = NameOf(ended.role, ended.index);
  std::string what = fmt::format("{} ended with {}", who, DescribeEnd(ended.end));
  if (const std::string words = control_.LastWords(ended.role, ended.index); !words.empty())
    what += ": " + words;
  // A role that ends by itself with an error says why, and is not worth another try unless its exit code says
  // so.
  const bool again = ended.end.signal != 0 || (ended.role == JobRole::kServer && exit_code >= 128);
  if (again) {
    control_.Note(EventKind::kLost, who, "ended with " + DescribeEnd(ended.end));
    std::string why_not;
    if (StartAgain(ended, what, why_not, now)) return;
    if (!why_not.empty()) what += "; " + why_not;
    if (role_lost_.empty()) role_lost_ = what;
  }
  if (ended.role == JobRole::kScheduler) scheduler_done_ = true;
  const auto act_at = now.at + (waited ? std::chrono::milliseconds(0) : kCauseFirst);
  control_.Fail({exit_code, what, act_at, true, ended.end.signal != 0 ? act_at : act_at + kScriptEnds});
}

bool RoleWatch::StartAgain(const EndedProcess& ended, const std::string& what, std::string& why_not,
                           const JobNow& now) {
  if (control_.IsFailing() || job_done_) return false;
  if (ended.role == JobRole::kServer && !MayPatch(why_not, now)) {
    lacked_checkpoint_ = lacked_checkpoint_ || !why_not.empty();
    return false;
  }
  const auto lived =
      std::chrono::floor<std::chrono::milliseconds>(now.at - began_[{ended.role, ended.index}]);
  const auto next = restarts_.Take(ended.role, ended.index, lived, why_not);
  if (!next) return false;
  // The address in the file is nobody's now, and soon perhaps that of another process.
  if (ended.role == JobRole::kScheduler) unlink(address_file_.c_str());
  due_.push_back({ended.role, ended.index, now.at + next->back_off, next->why});
  control_.Say(fmt::format("{}; starting it again in {} ({})", what, PrintTime(next->back_off), next->why));
  return true;
}

bool RoleWatch::CanPatch(const JobNow& now) const {
  if (options_.on_server_loss != ServerLossPlan::kPatch) return false;
  return !checkpoints_.Newest().empty() || (now.status != nullptr && now.status->tables.empty());
}

bool RoleWatch::MayPatch(std::string& why_not, const JobNow& now) const {
  if (options_.on_server_loss != ServerLossPlan::kPatch) return false;
  // Before a worker has trained nothing can be lost. The status may be older than the first iteration: then
  // the scheduler finds out, and ends the job.
  if (!HasTrained(now.status) || !checkpoints_.Newest().empty()) return true;
  why_not = checkpoints_.enabled() ? "there is no whole checkpoint yet to restore its blocks from"
                                   : "there is no checkpoint to restore its blocks from";
  return false;
}

void RoleWatch::KillLostServers(const JobNow& now) {
  if (now.status == nullptr || options_.on_server_loss != ServerLossPlan::kPatch) return;
  if (control_.IsFailing() || job_done_) return;
  for (const ShardStatus& shard : now.status->shards) {
    if (shard.state != "lost" || !control_.IsRunning(JobRole::kServer, shard.server)) continue;
    // A server that was started a moment ago is on its way to the place of the one before.
    SteadyClock::time_point& began = began_[{JobRole::kServer, shard.server}];
    if (now.at - began < options_.scheduler.expel_after + kServerStart || now.status_at < began) continue;
    control_.Say(fmt::format("{} does not answer, and the scheduler waits for another; killing it",
                             NameOf(JobRole::kServer, shard.server)));
    control_.Kill(JobRole::kServer, shard.server);
    began = now.at;
  }
}

void RoleWatch::StartDue(const JobNow& now) {
  if (control_.IsFailing()) return;
  std::vector<DueRole> later;
  for (DueRole& due : std::exchange(due_, {})) {
    if (now.at < due.at) {
      later.push_back(std::move(due));
      continue;
    }
    control_.Note(EventKind::kRestart, NameOf(due.role, due.index), due.why);
    Start(due.role, due.index, now.at);
  }
  if (!control_.IsEnding()) due_ = std::move(later);
}

}  // namespace leeway::app
