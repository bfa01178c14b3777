// Lives of workers that end without leaving: what the blocks hold of them decides on their batches, and on
// how many pushes are lost.
#include <utility>

#include "node/control_frame.h"
#include "node/scheduler/core.h"

namespace leeway {

wire::pb::Roster SchedulerNode::Core::BuildRoster() const {
  wire::pb::Roster roster = members_.BuildRoster();
  ended_lives_.AddTo(roster);
  return roster;
}

HeldPushes::Lacking SchedulerNode::Core::Lacking() const {
  HeldPushes::Lacking lacking = lacking_;
  for (const auto& [worker, report] : reports_.workers)
    lacking.lost += static_cast<std::uint64_t>(report.figures().Get("lost"));
  return lacking;
}

bool SchedulerNode::Core::MayPatch() const {
  return options_.on_server_loss == OnServerLoss::kPatch && (checkpoints_.enabled() || last_checkpoint_);
}

void SchedulerNode::Core::EndLife(const WorkerSeat& seat) {
  const MemberKey life{seat.rank, seat.incarnation};
  if (ended_lives_.IsPending(life)) return;
  ended_lives_.Add(life, seat.first, seat.settled);
  pools_.Doubt(life);
  AskOfEndedLives({&life, 1});
}

void SchedulerNode::Core::TakeEndedProcesses(const wire::pb::StatusRequest& request) {
  for (const wire::pb::Life& life : request.ended()) {
    if (over_ || !members_.gathered() || life.worker() >= members_.workers().size()) continue;
    WorkerSeat& seat = members_.workers()[life.worker()];
    // A later life may have the seat by now; one that left is no loss.
    if (!seat.live() || seat.incarnation != Incarnation(life.incarnation())) continue;
    Bury(seat, "its process has ended");
    CheckDone();
    CommitSoon();
  }
}

void SchedulerNode::Core::SettleLife(MemberKey life) {
  if (over_ || !ended_lives_.IsPending(life)) return;
  const EndedLives::Settled settled = ended_lives_.Settle(life);
  if (!settled.again) pools_.Settle(life, settled.top);
  if (!MayPatch()) ended_lives_.Forget(life);
  const auto [lost, torn] = settled.lacking;
  lacking_.lost += lost;
  lacking_.torn += torn;
  if (lost + torn > 0) {
    env_.log.Write(
        lost > 0 ? LogLevel::kWarning : LogLevel::kInfo,
        fmt::format("worker {} incarnation {} ended with iteration {}: {} of its pushes are lost with a "
                    "server, {} more reached only some of the blocks",
                    life.worker.value(), life.incarnation.value(), settled.top.value(), lost, torn));
  }
  LendWaiting();
  PublishIfWhole();
  CommitSoon();
}

void SchedulerNode::Core::AskOfEndedLives(std::span<const MemberKey> lives) {
  for (const MemberKey life : lives) acks_.When(epoch_, ConnectionId{}, [this, life] { SettleLife(life); });
}

void SchedulerNode::Core::TakeUpEndedLives() {
  for (const WorkerSeat& seat : members_.workers()) {
    if (seat.state == WorkerState::kLost) pools_.Doubt({seat.rank, seat.incarnation});
  }
  for (const MemberKey life : ended_lives_.Pending()) {
    if (!ended_lives_.IsKnown(life)) pools_.Doubt(life);
  }
  AskOfEndedLives(ended_lives_.Pending());
}

void SchedulerNode::Core::LendWaiting() {
  for (const auto& [key, waiting] : std::exchange(waiting_leases_, {})) {
    const auto& [id, request] = waiting;
    const WorkerSeat& seat = members_.workers()[key.first.index()];
    if (seat.connection != id || !seat.live()) continue;
    if (pools_.MustWait(request)) {
      waiting_leases_[key] = waiting;
      continue;
    }
    inbound_.SendControl(id, wire::Kind::kBatchLease,
                         pools_.Lend({seat.rank, seat.incarnation}, request, members_.LiveCount()));
  }
}

}  // namespace leeway
