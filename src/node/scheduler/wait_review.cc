#include "node/scheduler/wait_review.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "block/worker_names.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// A worker that is waited for is named this often.
constexpr Duration kRemindEvery = std::chrono::minutes(1);
// A worker lists at most 65 waits (WaitSurvey). A list above this limit comes from no correct worker.
constexpr int kOpenWaitsMax = 256;
constexpr std::size_t kWhatBytesMax = 256;
constexpr std::size_t kStandingsMax = 16;

// A worker lives and makes no call, and others wait for it. False: the job is over.
bool ReviewIdle(WaitGraph& waits, const WaitGraph::Idle& who, const WaitReview& review) {
  const WorkerSeat& seat = review.members.workers()[who.rank.index()];
  const std::string state = fmt::format(
      "it has made no call for {:.1f} s, and {} {} waited for it for up to {:.1f} s", Seconds(who.idle),
      WorkerNames(who.waiters), who.waiters.size() == 1 ? "has" : "have", Seconds(who.waited));
  if (who.limit > Duration::zero() && std::min(who.idle, who.waited) >= who.limit) {
    return review.give_up(who.rank, fmt::format("{}; --wait-max is {:.1f} s", state, Seconds(who.limit)));
  }
  if (!waits.IsReminderDue(who, kRemindEvery, review.now)) return true;
  review.log.Write(
      LogLevel::kWarning,
      fmt::format("worker {} (process {} on {}) is waited for: {}; {}", who.rank.value(), seat.pid, seat.host,
                  state,
                  who.limit > Duration::zero()
                      ? fmt::format("it is given up after {:.1f} s (--wait-max)", Seconds(who.limit))
                      : "it beats, so the others go on waiting (--wait-max TIME would give it up)"));
  return true;
}

}  // namespace

Result<WaitGraph::Answer> ReadAnswer(const wire::pb::WhyReply& reply, WorkerId rank, const Barriers& barriers,
                                     const Membership& members) {
  if (reply.open_size() > kOpenWaitsMax) {
    return Protocol("WhyReply of worker {} with {} waits, wanted at most {}", rank.value(), reply.open_size(),
                    kOpenWaitsMax);
  }
  WaitGraph::Answer answer{
      .acts = reply.acts(), .waits = reply.waits(), .settled = reply.settled(), .open = {}};
  for (const wire::pb::OpenWait& wait : reply.open()) {
    WaitGraph::Open& open = answer.open.emplace_back();
    open.what = Printable(wait.what(), kWhatBytesMax);
    open.v_train = Iteration(wait.v_train());
    if (wait.at_barrier()) {
      open.missing = barriers.Missing(wait.barrier(), rank, BarrierMembers(members));
    } else if (wait.anyone()) {
      open.what += " (no rank has given it first values)";
      open.missing = members.Counted();
    } else {
      for (const std::uint32_t missing : wait.missing()) open.missing.emplace_back(missing);
    }
  }
  return answer;
}

Result<std::optional<WaitGraph::Round>> ReviewWaits(WaitGraph& waits, const WaitReview& review) {
  std::vector<WaitGraph::Worker> workers;
  bool all_here = true;
  for (const WorkerSeat& seat : review.members.workers()) {
    const bool here = seat.connection != ConnectionId{} && !seat.joining;
    if (seat.counted() && !(seat.live() && here)) all_here = false;
    if (here)
      workers.push_back({seat.rank, seat.life, seat.counted(), seat.wait_max.value_or(review.wait_max)});
  }
  if (const auto standstill = waits.EndRound(workers, all_here, review.epoch, review.now)) {
    return FailedPrecondition(
        "the workers wait for each other, and none computes: {}. Either a rank has no batches left while "
        "others go on: give all ranks equally many (DistributedSampler, drop_last=True) or one BatchPool, or "
        "let a rank whose data has ended call join() before it meets the others. Or only some ranks make a "
        "call that all must make, such as a barrier under `if rank == 0`",
        *standstill);
  }
  for (const WaitGraph::Idle& who : waits.IdleOnes(workers, review.now)) {
    if (!ReviewIdle(waits, who, review)) return std::optional<WaitGraph::Round>();
  }
  return waits.BeginRound(workers, review.now);
}

wire::pb::WhyReply ExplainWait(const WaitQuestion& question, const Membership& members,
                               const Barriers& barriers, const Reports& reports, const WaitGraph& waits) {
  wire::pb::WhyReply reply;
  reply.set_request(question.why.request());
  std::vector<WorkerId> ranks;
  if (question.why.at_barrier())
    ranks = barriers.Missing(question.why.barrier(), question.asks, BarrierMembers(members));
  for (const WorkerId rank : ranks) reply.add_missing(rank.value());
  for (const std::uint32_t rank : question.why.ranks()) ranks.emplace_back(rank);
  for (const WorkerId rank : ranks) {
    if (rank.index() >= members.workers().size() || reply.standings_size() >= static_cast<int>(kStandingsMax))
      continue;
    const WorkerSeat& seat = members.workers()[rank.index()];
    wire::pb::Standing& standing = *reply.add_standings();
    standing.set_rank(rank.value());
    standing.set_state(WorkerStateName(seat.state));
    standing.set_silent_s(Seconds(question.now - seat.last_heard));
    standing.set_host(seat.host);
    standing.set_pid(seat.pid);
    if (const auto idle = waits.IdleFor(rank, question.now)) standing.set_idle_s(Seconds(*idle));
    const auto report = reports.workers.find(rank);
    standing.set_iteration(report == reports.workers.end() ? -1 : report->second.iteration().value());
    if (report != reports.workers.end()) standing.set_waiting_for(report->second.waiting_for());
  }
  return reply;
}

}  // namespace leeway
