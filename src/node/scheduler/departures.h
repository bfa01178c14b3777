// Departures: what workers leave behind when they leave or die: pushes in blocks, and batches of pools.
//
// The shards say what their blocks hold of a life that ended without leaving. The answer decides which of its
// batches are leased again, and how many of its pushes are lost. Until then requests for batches may have to
// wait. Thread rule: that of the scheduler node. Lives as long as its actions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "block/block_events.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/ended_lives.h"
#include "node/scheduler/held_pushes.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/scheduler_actions.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class Departures {
 public:
  // Borrows log and actions. `may_patch`: a server that dies may be replaced from a checkpoint, so lives that
  // ended since then must stay known. `settled` is called when a life is settled; call LendWaiting then.
  Departures(Log& log, SchedulerActions& actions, std::function<bool()> may_patch,
             std::function<void()> settled);

  [[nodiscard]] BatchPools& pools() { return pools_; }
  [[nodiscard]] const BatchPools& pools() const { return pools_; }
  [[nodiscard]] EndedLives& ended() { return ended_; }
  [[nodiscard]] const EndedLives& ended() const { return ended_; }
  // Of lives that ended, and of the checkpoint that the job began from.
  [[nodiscard]] const HeldPushes::Lacking& lacking() const { return lacking_; }
  void BeginFrom(const HeldPushes::Lacking& lacking) { lacking_ = lacking; }

  // The life in this seat has ended without leaving. The roster that follows asks the shards what they hold
  // of it. REQUIRES: the epoch is that roster's.
  void OnDied(const WorkerSeat& seat);
  // The life has left, with all verdicts of iterations below `end`.
  void OnLeft(const WorkerSeat& seat, Iteration end);
  // Another process has the shard: it is asked about lives that ended before.
  void OnReplaced(ShardId shard) { Ask(ended_.OnReplaced(shard)); }
  // After the log was read: asks the shards again.
  void TakeUp(const Membership& members);
  // The job is over: nothing is settled any more.
  void Stop() { stopped_ = true; }

  // The answer to a request for batches; nothing while it has to wait. REQUIRES: the seat is live.
  [[nodiscard]] std::optional<wire::pb::BatchLease> Lend(const WorkerSeat& seat, std::size_t live,
                                                         const wire::pb::LeaseBatches& request);
  // Answers requests that need not wait any more.
  void LendWaiting(const Membership& members);

  void AddTo(wire::pb::LoggedJob& job) const;
  void Apply(const wire::pb::LoggedJob& job);

 private:
  // When every shard has taken the roster of this epoch, it has answered.
  void Ask(std::span<const MemberKey> lives);
  void Settle(MemberKey life);

  Log& log_;
  SchedulerActions& actions_;
  const std::function<bool()> may_patch_;
  const std::function<void()> settled_;
  BatchPools pools_;
  EndedLives ended_;
  HeldPushes::Lacking lacking_;
  // By rank and pool.
  std::map<std::pair<WorkerId, std::string>, std::pair<ConnectionId, wire::pb::LeaseBatches>> waiting_;
  bool stopped_ = false;
};

}  // namespace leeway
