#include "node/scheduler/departures.h"

#include <fmt/format.h>

namespace leeway {

Departures::Departures(Log& log, SchedulerActions& actions, std::function<bool()> may_patch,
                       std::function<void()> settled)
    : log_(log), actions_(actions), may_patch_(std::move(may_patch)), settled_(std::move(settled)) {}

void Departures::OnDied(const WorkerSeat& seat) {
  const MemberKey life{seat.rank, seat.incarnation};
  if (ended_.IsPending(life)) return;
  ended_.Add(life, seat.first, seat.settled);
  pools_.AwaitSettle(life);
  Ask({&life, 1});
}

void Departures::OnLeft(const WorkerSeat& seat, Iteration end) {
  const MemberKey life{seat.rank, seat.incarnation};
  if (may_patch_() && ended_.Left(life, seat.first, end)) Ask({&life, 1});
  pools_.Left(life, end - 1);
}

void Departures::Ask(std::span<const MemberKey> lives) {
  for (const MemberKey life : lives)
    actions_.WhenAcked(actions_.epoch(), ConnectionId{}, [this, life] { Settle(life); });
}

void Departures::Settle(MemberKey life) {
  if (stopped_ || !ended_.IsPending(life)) return;
  const EndedLives::Settled settled = ended_.Settle(life);
  if (!settled.again) pools_.Settle(life, settled.top);
  if (!may_patch_()) ended_.Forget(life);
  const auto [lost, torn] = settled.lacking;
  lacking_.lost += lost;
  lacking_.torn += torn;
  if (lost + torn > 0) {
    log_.Write(
        lost > 0 ? LogLevel::kWarning : LogLevel::kInfo,
        fmt::format("worker {} incarnation {} ended with iteration {}: {} of its pushes are lost with a "
                    "server, {} more reached only some of the blocks",
                    life.worker.value(), life.incarnation.value(), settled.top.value(), lost, torn));
  }
  settled_();
}

void Departures::TakeUp(const Membership& members) {
  for (const WorkerSeat& seat : members.workers()) {
    if (seat.state == WorkerState::kLost) pools_.AwaitSettle({seat.rank, seat.incarnation});
  }
  for (const MemberKey life : ended_.Pending()) {
    if (!ended_.IsKnown(life)) pools_.AwaitSettle(life);
  }
  Ask(ended_.Pending());
}

std::optional<wire::pb::BatchLease> Departures::Lend(const WorkerSeat& seat, std::size_t live,
                                                     const wire::pb::LeaseBatches& request) {
  if (pools_.MustWait(request)) {
    waiting_[{seat.rank, request.pool()}] = {seat.connection, request};
    return std::nullopt;
  }
  return pools_.Lend({seat.rank, seat.incarnation}, request, live);
}

void Departures::LendWaiting(const Membership& members) {
  for (const auto& [key, waiting] : std::exchange(waiting_, {})) {
    const auto& [id, request] = waiting;
    const WorkerSeat& seat = members.workers()[key.first.index()];
    if (seat.connection != id || !seat.live()) continue;
    if (const auto lease = Lend(seat, members.LiveCount(), request))
      actions_.Send(id, wire::Kind::kBatchLease, *lease);
  }
}

void Departures::AddTo(wire::pb::LoggedJob& job) const {
  job.set_lost(lacking_.lost);
  job.set_torn(lacking_.torn);
  ended_.AddTo(job);
}

void Departures::Apply(const wire::pb::LoggedJob& job) {
  lacking_ = {job.lost(), job.torn()};
  ended_.Apply(job);
}

}  // namespace leeway
