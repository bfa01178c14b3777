// Servers that die while the job runs: who takes their place, and what their blocks go on from.
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

void SchedulerNode::Core::AwaitShard(ShardSeat& seat, const std::string& what) {
  if (options_.on_server_loss == OnServerLoss::kFail || !last_checkpoint_)
    return Finish(LostServer(seat, what));
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
  if (options_.on_server_loss == OnServerLoss::kFail || !last_checkpoint_) {
    const Status why =
        LostServer(seat, fmt::format("is gone: a new process at {} asks for its place", address));
    Finish(why);
    return why;
  }
  const LastCheckpoint& last = *last_checkpoint_;
  const Result<std::size_t> blocks = tables_.Patch(seat.id, last.manifest, last.folder, last.of_this_run);
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
  env_.log.Write(
      LogLevel::kWarning,
      fmt::format("server {} shard {} at {} is replaced by a process at {}: its {} blocks go on from "
                  "checkpoint {} of iteration {} (the fastest worker is in {}){}",
                  seat.server.value(), seat.shard, seat.address, address, *blocks, last.manifest.checkpoint,
                  last.manifest.iteration.value(), Fastest().value(),
                  unread_.empty() ? "" : fmt::format("; a newer one could not be read: {}", unread_)));
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
