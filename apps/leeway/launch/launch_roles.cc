// Servers and the scheduler of a launch: one that dies is started again where the job can go on with it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cli/quantity.h"
#include "launch/launch.h"

namespace leeway::app {
namespace {

// A new server is connected long before, if it ever is.
constexpr std::chrono::milliseconds kServerStart{5'000};

}  // namespace

void Launch::StartRole(JobRole role, std::uint32_t index) {
  role_began_[{role, index}] = SteadyClock::now();
  Start(role, index,
        role == JobRole::kScheduler ? SchedulerCommandOf(program_, options_, files_)
                                    : ServerCommandOf(program_, options_, files_, index));
}

void Launch::OnRoleEnded(const EndedProcess& ended) {
  const int exit_code = ended.end.exit_code;
  if (ended.role == JobRole::kScheduler && exit_code == 0) {
    scheduler_done_ = job_done_ = true;
    due_workers_.clear();  // there is nothing to come back to
    due_roles_.clear();
    // Its last status: the job is over, though scripts may have more to do.
    return TakeLastStatus();
  }
  if (exit_code == 0 || ending_) return;
  if (interrupt_until_) {
    // The last worker may have been interrupted: no failure of the scheduler's.
    if (ended.role == JobRole::kScheduler) scheduler_done_ = true;
    return;
  }
  if (ended.role == JobRole::kServer && exit_code >= 128) {
    undecided_servers_.push_back({ended, SteadyClock::now()});
    return;
  }
  OnRoleLost(ended, false);
}

void Launch::DecideServerLosses(SteadyClock::time_point now) {
  std::erase_if(undecided_servers_, [&](const ServerLoss& loss) { return Decide(loss, now); });
}

bool Launch::Decide(const ServerLoss& loss, SteadyClock::time_point now) {
  if (ending_) return true;
  if (NeedsNoServer()) {
    server_gone_ = true;
    const std::string who = NameOf(loss.ended.role, loss.ended.index);
    const std::string what =
        fmt::format("ended with {} when every worker had its final values", DescribeEnd(loss.ended.end));
    events_.Add(EventKind::kLost, who, what);
    Say(fmt::format("{} {}: the job needs it no more", who, what));
    return true;
  }
  const bool waited = failure_ || now >= loss.at + kServerNews;
  // A status from before the loss may not know yet that nobody needs the server.
  if (!waited && (status_at_ < loss.at || !CanPatch())) return false;
  OnRoleLost(loss.ended, waited);
  return true;
}

void Launch::OnRoleLost(const EndedProcess& ended, bool waited) {
  const int exit_code = ended.end.exit_code;
  const std::string who = NameOf(ended.role, ended.index);
  std::string what = fmt::format("{} ended with {}", who, DescribeEnd(ended.end));
  if (const std::string words = processes_.LastWords(ended.role, ended.index); !words.empty())
    what += ": " + words;
  // A role that ends by itself with an error says why, and is not worth another try unless its exit code says
  // so.
  const bool again = ended.end.signal != 0 || (ended.role == JobRole::kServer && exit_code >= 128);
  if (again) {
    events_.Add(EventKind::kLost, who, "ended with " + DescribeEnd(ended.end));
    std::string why_not;
    if (StartRoleAgain(ended, what, why_not)) return;
    if (!why_not.empty()) what += "; " + why_not;
    if (role_lost_.empty()) role_lost_ = what;
  }
  if (ended.role == JobRole::kScheduler) {
    scheduler_done_ = true;
    due_workers_.clear();
  }
  const auto act_at = SteadyClock::now() + (waited ? std::chrono::milliseconds(0) : kCauseFirst);
  Fail({exit_code, what, act_at, true, ended.end.signal != 0 ? act_at : act_at + kScriptEnds});
}

bool Launch::StartRoleAgain(const EndedProcess& ended, const std::string& what, std::string& why_not) {
  if (failure_ || job_done_) return false;
  if (ended.role == JobRole::kServer && !MayPatch(why_not)) {
    // What is said at the end of the job is what was decided on here.
    if (!why_not.empty()) newest_ = "";
    return false;
  }
  const auto now = SteadyClock::now();
  const auto lived =
      std::chrono::floor<std::chrono::milliseconds>(now - role_began_[{ended.role, ended.index}]);
  const auto next = role_restarts_.Take(ended.role, ended.index, lived, why_not);
  if (!next) return false;
  // What stands there now is nobody's address, and soon perhaps somebody else's.
  if (ended.role == JobRole::kScheduler) unlink(files_.address().c_str());
  due_roles_.push_back({ended.role, ended.index, now + next->back_off, next->why});
  Say(fmt::format("{}; starting it again in {} ({})", what, PrintTime(next->back_off), next->why));
  return true;
}

bool Launch::HasTrained() const {
  if (!outcome_.status) return false;
  return std::ranges::any_of(outcome_.status->workers,
                             [](const WorkerStatus& worker) { return worker.iteration > 0; });
}

bool Launch::CanPatch() const {
  if (options_.on_server_loss != ServerLossPlan::kPatch) return false;
  return !checkpoints_.Newest().empty() || (outcome_.status && outcome_.status->tables.empty());
}

bool Launch::MayPatch(std::string& why_not) const {
  if (options_.on_server_loss != ServerLossPlan::kPatch) return false;
  // Before anybody has trained nothing can be lost. The status may be older than the first iteration: then
  // the scheduler finds out, and ends the job.
  if (!HasTrained() || !checkpoints_.Newest().empty()) return true;
  why_not = checkpoints_.enabled() ? "there is no whole checkpoint yet to restore its blocks from"
                                   : "there is no checkpoint to restore its blocks from";
  return false;
}

void Launch::KillLostServers(SteadyClock::time_point now) {
  if (!outcome_.status || options_.on_server_loss != ServerLossPlan::kPatch || failure_ || job_done_) return;
  for (const ShardStatus& shard : outcome_.status->shards) {
    if (shard.state != "lost" || !processes_.IsRunning(JobRole::kServer, shard.server)) continue;
    // One that was started a moment ago is on its way to the place of the one before.
    SteadyClock::time_point& began = role_began_[{JobRole::kServer, shard.server}];
    if (now - began < options_.scheduler.expel_after + kServerStart || status_at_ < began) continue;
    Say(fmt::format("{} does not answer, and the scheduler waits for another; killing it",
                    NameOf(JobRole::kServer, shard.server)));
    processes_.Signal(JobRole::kServer, shard.server, SIGKILL);
    began = now;
  }
}

void Launch::StartDueRoles(SteadyClock::time_point now) {
  if (failure_) return;
  std::vector<DueRole> later;
  for (DueRole& due : std::exchange(due_roles_, {})) {
    if (now < due.at) {
      later.push_back(std::move(due));
      continue;
    }
    events_.Add(EventKind::kRestart, NameOf(due.role, due.index), due.why);
    StartRole(due.role, due.index);
  }
  if (!ending_) due_roles_ = std::move(later);
}

}  // namespace leeway::app
