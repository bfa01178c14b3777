// Workers that wait for others: who is waited for, who is given up, and jobs that stand still.
#include <algorithm>

#include "base/errors.h"
#include "base/printable.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"
#include "node/scheduler/worker_names.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// A worker that is waited for is named this often.
constexpr Duration kRemindEvery = std::chrono::minutes(1);
// A worker lists at most 65 waits (WaitSurvey). A list above this limit comes from no correct worker.
constexpr int kOpenWaitsMax = 256;
constexpr std::size_t kWhatBytesMax = 256;

}  // namespace

Status SchedulerNode::Core::TakeWhyReply(const WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::WhyReply reply;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kWhyReply, body, reply));
  if (reply.open_size() > kOpenWaitsMax) {
    return Protocol("WhyReply of worker {} with {} waits, wanted at most {}", seat.rank.value(),
                    reply.open_size(), kOpenWaitsMax);
  }
  WaitGraph::Answer answer{
      .acts = reply.acts(), .waits = reply.waits(), .settled = reply.settled(), .open = {}};
  for (const wire::pb::OpenWait& wait : reply.open()) {
    WaitGraph::Open& open = answer.open.emplace_back();
    open.what = Printable(wait.what(), kWhatBytesMax);
    open.v_train = Iteration(wait.v_train());
    if (wait.at_barrier()) {
      open.missing = barriers_.Missing(wait.barrier(), seat.rank, BarrierMembers());
    } else if (wait.anyone()) {
      open.what += " (no rank has given it first values)";
      open.missing = members_.Counted();
    } else {
      for (const std::uint32_t rank : wait.missing()) open.missing.emplace_back(rank);
    }
  }
  waits_.OnAnswer(seat.rank, seat.life, reply.request(), std::move(answer));
  return Status::Ok();
}

void SchedulerNode::Core::ReviewWaits() {
  if (!members_.gathered()) return;
  std::vector<WaitGraph::Worker> workers;
  bool all_here = true;
  for (const WorkerSeat& seat : members_.workers()) {
    const bool here = seat.connection != ConnectionId{} && !seat.joining;
    if (seat.counted() && !(seat.live() && here)) all_here = false;
    if (here)
      workers.push_back({seat.rank, seat.life, seat.counted(), seat.wait_max.value_or(options_.wait_max)});
  }
  const TimePoint now = env_.clock.Now();
  if (const auto standstill = waits_.EndRound(workers, all_here, epoch_, now)) {
    return Finish(FailedPrecondition(
        "the workers wait for each other, and none computes: {}. Either a rank has no batches left while "
        "others go on: give all ranks equally many (DistributedSampler, drop_last=True) or one BatchPool, or "
        "let a rank whose data has ended call join() before it meets the others. Or only some ranks make a "
        "call that all must make, such as a barrier under `if rank == 0`",
        *standstill));
  }
  for (const WaitGraph::Idle& who : waits_.IdleOnes(workers, now)) {
    ReviewIdle(who);
    if (over_) return;
  }
  const std::optional<WaitGraph::Round> round = waits_.BeginRound(workers, now);
  if (!round) return;
  wire::pb::Why why;
  why.set_request(round->number);
  for (const WorkerId rank : round->asked) {
    inbound_.SendControl(members_.workers()[rank.index()].connection, wire::Kind::kWhy, why);
  }
}

void SchedulerNode::Core::ReviewIdle(const WaitGraph::Idle& who) {
  WorkerSeat& seat = members_.workers()[who.rank.index()];
  const std::string state = fmt::format(
      "it has made no call for {:.1f} s, and {} {} waited for it for up to {:.1f} s", Seconds(who.idle),
      WorkerNames(who.waiters), who.waiters.size() == 1 ? "has" : "have", Seconds(who.waited));
  if (who.limit > Duration::zero() && std::min(who.idle, who.waited) >= who.limit) {
    return Bury(seat, fmt::format("{}; --wait-max is {:.1f} s", state, Seconds(who.limit)));
  }
  if (!waits_.IsReminderDue(who, kRemindEvery, env_.clock.Now())) return;
  env_.log.Write(
      LogLevel::kWarning,
      fmt::format("worker {} (process {} on {}) is waited for: {}; {}", who.rank.value(), seat.pid, seat.host,
                  state,
                  who.limit > Duration::zero()
                      ? fmt::format("it is given up after {:.1f} s (--wait-max)", Seconds(who.limit))
                      : "it beats, so the others go on waiting (--wait-max TIME would give it up)"));
}

}  // namespace leeway
