// Training: the iterations of a worker, one after the other: gradients out, values in.
//
// Owns the tables, the ports to the shards, and the parts that decide what goes out, which values are asked
// for, and when the user may use a table; routes between them. The node tells it what the scheduler says, and
// calls only what its phase allows. Callbacks of the user go out through DueCallbacks. Thread rule: the
// node's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/worker.h"
#include "node/worker/answer_landings.h"
#include "node/worker/array_writes.h"
#include "node/worker/block_rules.h"
#include "node/worker/communication.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/exchange.h"
#include "node/worker/final_values.h"
#include "node/worker/own_pulls.h"
#include "node/worker/partial_use.h"
#include "node/worker/push_loans.h"
#include "node/worker/shard_ports.h"
#include "node/worker/step_barrier.h"
#include "node/worker/table_set.h"
#include "node/worker/use_order.h"
#include "node/worker/wait_account.h"
#include "node/worker/worker_identity.h"
#include "node/worker/worker_policies.h"

namespace leeway {

class Training {
 public:
  struct Events {
    std::function<void()> at_barrier;          // a step has ended: meet the other members, then OnStepped
    std::function<void(Iteration)> iteration;  // it goes on in a later iteration than it has counted
    std::function<void(bool)> gated;           // a table may be used only after Sync has said so
    std::function<void()> shown;               // a table may have been shown outside of a frame
    std::function<void()> loans_looked;        // as PushLoans says it
  };
  // Borrows all but `options` and `events` for its life.
  Training(const WorkerOptions& options, Env& env, const WorkerPolicies& policies, const WorkerIdentity& self,
           WorkerCounters& counters, DueCallbacks& due, Events events);

  // Takes the job's policies; an error if one is not known.
  [[nodiscard]] Status TakeJob(const JobOptions& job);
  void BeginAt(Iteration first) { iteration_ = first; }
  // The worker counts as a member from now on.
  void Join() { is_member_ = true; }
  // It does not any more: sums go out, and no barrier is passed.
  void Leave();
  // The scheduler has confirmed it: what was asked as a member is asked again as an observer.
  void OnLeft();
  // Ends all that is open, with an error for its owner.
  void FailAll(const Status& why);
  [[nodiscard]] bool ended() const { return ended_; }

  // Takes the blocks and models of tables that were asked for, and asks for their values.
  [[nodiscard]] Status Place(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map);
  [[nodiscard]] Status TakeModels(WorkerTable& table, const wire::pb::Table& map) {
    return rules_.TakeModels(table, map, job_sync_, ports_.servers());
  }
  // Other models from now on, for tables that are placed.
  [[nodiscard]] Status Switch(const wire::pb::TableMap& map);
  // Models have changed.
  void CountRules() {
    rules_.Count(tables_, is_member_);
    events_.gated(rules_.any_skips() || rules_.any_bounded());
  }

  // As in WorkerNode. REQUIRES: a member, but for Sync and Pull.
  void Broadcast(TableId id, LentGradient values, Done done);
  void Assign(TableId id, AssignedArray array, LentGradient values, Done done);
  [[nodiscard]] Status Push(TableId id, LentGradient gradient, Done done);
  void Clock(std::optional<std::uint32_t> group);
  // As in WorkerNode.
  void NoteUses(std::span<const TableId> tables) {
    if (use_order_) use_order_->NoteAllUses(tables);
  }
  void Sync(TableId id, Done usable, TimePoint asked);
  [[nodiscard]] Status Pull(TableId id, std::span<float> values, Done done);
  // Training begins with the last read, barrier or lease before the first gradient.
  void NoteBeforeTraining() {
    if (steps_ == 0 && handed_ != iteration_) waits_.NoteBeforeTraining(env_.clock.Now());
  }

  // Initial values of the block were taken, or refused.
  void OnInitialized(WorkerBlock& block, bool refused) { writes_.OnInitialized(block, refused, loans_); }
  // All verdicts of a frame are taken.
  void AfterVerdicts() {
    StepIfSettled();
    if (rules_.any_bounded()) ReleaseAllWaiters();
  }
  [[nodiscard]] Status OnAnswers(ShardPort& port, AnswerLanding& landing);
  // The barrier of a step was passed.
  void OnStepped();
  // The barrier of a step has ended, whether passed or not.
  void LeaveBarrier() { step_.Leave(); }

  // Pulls the final values of all tables.
  void PullFinal() {
    final_values_.Pull(tables_, iteration_, env_.clock.Now(), ports_, own_pulls_, events_.shown);
  }
  [[nodiscard]] bool final_asked() const { return final_values_.asked(); }
  [[nodiscard]] bool HasFinal() const { return final_values_.Have(tables_); }

  [[nodiscard]] Iteration iteration() const { return iteration_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  // The iteration that the worker does not do: pushes are below it.
  [[nodiscard]] Iteration end() const;
  // Everything that was sent has its verdict.
  [[nodiscard]] bool settled() const { return ports_.unsettled() == 0 && writes_.open() == 0; }
  // A cut at this iteration lacks gradients of this worker that have added up.
  [[nodiscard]] bool LacksAt(Iteration cut) const;
  [[nodiscard]] TableSet& tables() { return tables_; }
  [[nodiscard]] const TableSet& tables() const { return tables_; }
  [[nodiscard]] ShardPorts& ports() { return ports_; }
  [[nodiscard]] const ShardPorts& ports() const { return ports_; }
  [[nodiscard]] PushLoans& loans() { return loans_; }
  [[nodiscard]] Exchange& exchange() { return exchange_; }
  [[nodiscard]] const PartialPull& partial() const { return partial_.partial(); }
  [[nodiscard]] const BlockRules& rules() const { return rules_; }
  [[nodiscard]] const StepBarrier& step() const { return step_; }
  [[nodiscard]] const WaitAccount& waits() const { return waits_; }
  [[nodiscard]] const OverlapAccount& overlap() const { return communication_.account(); }

 private:
  // Pushes the gradient and asks for the values that follow. Without a gradient the iteration is absent, and
  // `idle` if it is of another group.
  void SendOut(WorkerTable& table, std::optional<LentGradient> gradient, Done done, bool idle = false);
  // Asks for the blocks that the table needs after `progress`: nothing where the version held serves.
  void RequestBlocks(WorkerTable& table, Iteration progress);
  void RequestAll();
  void PublishIfWhole(WorkerTable& table);
  // Ends the waits for the table that may end, and raises the iteration before if it is over elsewhere.
  void ReleaseWaiters(WorkerTable& table);
  void ReleaseAllWaiters();
  // `table` is what was waited for last; null: the worker ends.
  void EndWait(const WorkerTable* table);
  // Goes on in the lowest iteration that the blocks which skip ahead have told, if that is higher and nothing
  // of this one was handed in.
  void SkipAhead();
  void StepIfSettled();
  void OnAnswer(ShardPort& port, WorkerBlock& block, const wire::AnswerEntry& entry,
                AnswerLanding::Slot& slot);

  Env& env_;
  const WorkerIdentity& self_;
  WorkerCounters& counters_;
  DueCallbacks& due_;
  const Events events_;
  std::string job_sync_;
  bool is_member_ = false, ended_ = false, pulls_at_clock_ = false;
  std::optional<UseOrder> use_order_;  // if the job has priorities
  Iteration iteration_{0};
  std::uint64_t steps_ = 0;  // iterations that this worker ended itself
  Iteration handed_{-1};     // the last iteration with a gradient
  TableSet tables_;
  Communication communication_;
  ShardPorts ports_;
  PushLoans loans_;
  ArrayWrites writes_;
  BlockRules rules_;
  Exchange exchange_;
  PartialUse partial_;
  StepBarrier step_;
  WaitAccount waits_;
  OwnPulls own_pulls_;
  FinalValues final_values_;
  std::vector<WorkerTable*> answered_;  // of the frame at hand; kept to reuse its memory
};

}  // namespace leeway
