// CheckpointWriter: the checkpoints of the running job. Names each cut to shards and workers, gathers what
// they have written, publishes the manifest, and answers those who asked for a checkpoint.
//
// When one is due is in Checkpoints; the workers' part of a cut is in RankStates. Every call gets the job as
// it is then. Thread rule: that of Env. Lives as long as its calls to Storage are under way.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "base/registry.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/sync_model.h"
#include "node/scheduler/checkpoint_files.h"
#include "node/scheduler/checkpoint_requests.h"
#include "node/scheduler/checkpoints.h"
#include "node/scheduler/cut_manifest.h"
#include "node/scheduler/cut_moments.h"
#include "node/scheduler/rank_states.h"
#include "node/scheduler/scheduler_actions.h"

namespace leeway {

class CheckpointWriter {
 public:
  struct Events {
    // A cut has begun. The checkpoint will hold all lives that have ended by now.
    std::function<void()> begun;
    // A checkpoint is whole. No older one has been removed yet.
    std::function<void(const Manifest& manifest, const std::string& folder)> whole;
    // After `whole`: the next cut may begin at once.
    std::function<void()> next;
  };
  // Borrows env, models and actions.
  CheckpointWriter(Env& env, const CheckpointOptions& options, std::size_t shards,
                   const Registry<SyncModel>& models, SchedulerActions& actions, Events events);

  // When checkpoints are due, and how far the one under way has come.
  [[nodiscard]] Checkpoints& checkpoints() { return checkpoints_; }
  [[nodiscard]] const Checkpoints& checkpoints() const { return checkpoints_; }
  // Somebody wants one now. Call Review then. A monitor that does not wait has no `done`.
  void Request(CheckpointRequests::Done done);
  void Request(ConnectionId monitor, CheckpointRequests::Done done);
  // The connection of a monitor is gone.
  void Forget(ConnectionId monitor) { requests_.Forget(monitor); }
  // The job is over: answers all requests.
  void Stop();

  // Publishes, gives up or begins one, as it is due. `may_begin`: the folder is this process's.
  void Review(const CutJob& job, bool may_begin);
  // Tables were made, and every shard has them: a checkpoint under way lacks them.
  void OnTablesMade();
  // Another process has this shard. Requests may be answered, and end the job from inside.
  void OnReplaced(const ShardSeat& seat, Iteration fastest);
  void TakeCutReply(const CutJob& job, const ShardSeat& seat, const wire::pb::CutReply& reply);
  void TakeRankState(const CutJob& job, const WorkerSeat& seat, const wire::pb::RankState& state);
  // Sends the worker the cut under way, if its state is wanted.
  void AskForState(const WorkerSeat& seat);
  // Once all shards have written and no worker is waited for.
  void PublishIfWhole(const CutJob& job);
  // Batches of iterations from this one on may not be in the cut under way; kIterationMax: there is no cut.
  [[nodiscard]] Iteration KeepBatchesFrom(const TableRegistry& tables);

 private:
  void Begin(const CutJob& job);
  void TellShards(const Membership& members);
  // Of a cut that takes blocks at once: when every worker has given its state.
  void TellShardsIfGiven(const Membership& members);
  void Publish(const CutJob& job);
  void Complete(const Manifest& manifest);
  // Answers requests, and their owners may end the job from inside.
  void GiveUp(const std::string& why);
  void DiscardCut();
  [[nodiscard]] std::string WhoIsMissing(const CutJob& job) const;

  Env& env_;
  const CheckpointOptions options_;
  SchedulerActions& actions_;
  const Events events_;
  Checkpoints checkpoints_;
  CutMoments moments_;
  RankStates rank_states_;
  CheckpointRequests requests_;
  CheckpointFiles files_;
  std::map<MemberKey, Iteration> settled_at_cut_;  // by life: its pushes below it had their verdicts
  bool stopped_ = false;
};

}  // namespace leeway
