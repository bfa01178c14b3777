// Servers that die while the job runs: who takes their place, and what their blocks go on from.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/scheduler/core.h"
#include "node/seconds.h"

namespace leeway {

void SchedulerNode::Core::LoseShard(ShardSeat& seat, Parting how, const Status& why) {
  seat.connection = {};
  seat.last_heard = env_.clock.Now();
  if (how == Parting::kLost) return;  // it may come back until it has been silent for too long
  if (!members_.gathered()) return members_.Free(seat);
  seat.done = true;
  AwaitShard(
      seat, fmt::format("ended while the job was running: {}", why.ok() ? "it said goodbye" : why.message()));
}

bool SchedulerNode::Core::MayReplace() const {
  if (options_.on_server_loss == OnServerLoss::kFail) return false;
  if (last_checkpoint_) return true;
  // A checkpoint that cannot be read now holds values that an empty block would not have.
  const bool began_empty = resumed_from_.empty() && unread_.empty();
  return began_empty && Fastest() <= members_.start();
}

bool SchedulerNode::Core::AllServed() const {
  if (!members_.gathered() || !members_.AnyLeft()) return false;
  return std::ranges::all_of(members_.workers(), [this](const WorkerSeat& seat) {
    if (seat.state == WorkerState::kAwaited || seat.state == WorkerState::kDead) return true;
    const auto report = reports_.workers.find(seat.rank);
    const bool has_final = report != reports_.workers.end() && report->second.has_final();
    return seat.state == WorkerState::kLeft && (seat.done || has_final);
  });
}

void SchedulerNode::Core::AwaitShard(ShardSeat& seat, const std::string& what) {
  if (AllServed()) {
    seat.done = true;  // nobody needs it, nor another in its place
    return;
  }
  if (AwaitsFirstCheckpoint()) return;  // the next review decides
  if (!MayReplace()) return Finish(LostServer(seat, what));
  seat.awaited = true;
  seat.last_heard = env_.clock.Now();
  if (const ConnectionId id = std::exchange(seat.connection, {}); id != ConnectionId{}) {
    DropPeer(id);
    // Should it be heard of again before another has its place, it goes on as before.
    inbound_.Close(id, Unavailable("server {} shard {} {}", seat.server.value(), seat.shard, what));
  }
  env_.log.Write(LogLevel::kWarning,
                 fmt::format("server {} shard {} at {} {}; the job waits {:.1f} s for another process in its "
                             "place: start one with --server {}",
                             seat.server.value(), seat.shard, seat.address, what,
                             Seconds(options_.gather_timeout), seat.server.value()));
}

Status SchedulerNode::Core::ReplaceShard(ShardSeat& seat, const std::string& address) {
  if (AwaitsFirstCheckpoint()) {
    // It asks again.
    return Unavailable("the first checkpoint of the job \"{}\" is being written", options_.job.job);
  }
  if (!MayReplace()) {
    const Status why =
        LostServer(seat, fmt::format("is gone: a new process at {} asks for its place", address));
    Finish(why);
    return why;
  }
  const Result<std::size_t> blocks =
      last_checkpoint_ ? tables_.Patch(seat.id, last_checkpoint_->manifest, last_checkpoint_->folder,
                                       last_checkpoint_->of_this_run)
                       : tables_.Empty(seat.id);
  if (!blocks.ok()) {
    Finish(LostServer(seat, fmt::format("is gone, and cannot be replaced: {}", blocks.status().message())));
    return blocks.status();
  }
  if (checkpoints_.under_way() && checkpoints_.IsAhead(Fastest())) {
    // Nothing of it is lost: another is named at once, for the process that comes too.
    files_.Discard(checkpoints_.cut().folder());
    checkpoints_.Drop();
  } else if (checkpoints_.under_way()) {
    GiveUpCheckpoint(fmt::format("server {} shard {} was replaced", seat.server.value(), seat.shard));
    if (over_) return Status::Ok();  // by whoever waited for it: the new process hears so
  }
  members_.Replace(seat, NextEpoch());
  acks_.Reset(seat.id);  // the new process has nothing in force yet
  AskOfEndedLives(ended_lives_.OnReplaced(seat.id));
  std::string from = "begin empty, as nobody has trained yet";
  if (last_checkpoint_) {
    const Manifest& manifest = last_checkpoint_->manifest;
    from = fmt::format("go on from checkpoint {} of iteration {} (the fastest worker is in {}){}",
                       manifest.checkpoint, manifest.iteration.value(), Fastest().value(),
                       unread_.empty() ? "" : fmt::format("; a newer one could not be read: {}", unread_));
  }
  env_.log.Write(LogLevel::kWarning,
                 fmt::format("server {} shard {} at {} is replaced by a process at {}: its {} blocks {}",
                             seat.server.value(), seat.shard, seat.address, address, *blocks, from));
  return Status::Ok();
}

Status SchedulerNode::Core::LostServer(const ShardSeat& seat, const std::string& what) const {
  std::string resume = "no checkpoint was written to resume from";
  if (last_checkpoint_) resume = fmt::format("resume from {}", last_checkpoint_->folder);
  if (!unread_.empty()) {
    resume = fmt::format("{} could not be read: {}",
                         last_checkpoint_ ? resume + "; a newer checkpoint" : "the last checkpoint", unread_);
  }
  return Unavailable("server {} shard {} at {} {}; {}", seat.server.value(), seat.shard, seat.address, what,
                     resume);
}

}  // namespace leeway
