// WorkerNode: the worker's side of every iteration, as a single-threaded state machine.
//
// Routes calls and frames to its parts, which do the work: Joining, Training, ShardIntake and the others
// below. Users drive it through leeway::Worker (src/process/), simulated workers directly, by the same
// two calls: Push ("the gradient of table T is ready") and Sync ("about to use table T"), with
// Clock between iterations. Thread rule: Env's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/table.h"
#include "leeway/worker.h"
#include "node/link.h"
#include "node/worker/arrays_wanted.h"
#include "node/worker/client_state.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/joining.h"
#include "node/worker/lent_gradient.h"
#include "node/worker/life_cycle.h"
#include "node/worker/parameter_pair.h"
#include "node/worker/reporting.h"
#include "node/worker/scheduler_requests.h"
#include "node/worker/shard_intake.h"
#include "node/worker/training.h"
#include "node/worker/user_activity.h"
#include "node/worker/worker_policies.h"
#include "node/worker/worker_view.h"
#include "wire/messages.h"

namespace leeway {

class WorkerNodeEvents : public UserActivity {
 public:
  // Final: fenced, refused, the scheduler is gone, or the job ended with an error. Every pending callback has
  // been called with this status before. The node must not be destroyed from inside this or any other
  // callback.
  virtual void OnFailed(const Status& why) = 0;
  // The same, before any pending callback hears of it: what a callback's owner does next meets the failure.
  virtual void OnFailing(const Status& /*why*/) {}
  // A checkpoint wants the client's state when it is about to begin iteration `from` or a later one;
  // kIterationMax: not any more. Only of a client that keeps one.
  virtual void OnStateWanted(Iteration /*from*/) {}
  // The worker goes on in this iteration: a later one than it has counted itself (models that skip ahead).
  virtual void OnIteration(Iteration /*now*/) {}
  // True: a table may be used only after Sync has said so, whatever its pair says.
  virtual void OnGated(bool /*gated*/) {}
};

class WorkerNode final : private LinkEvents {
 public:
  WorkerNode(const WorkerOptions& options, Env& env, const WorkerPolicies& policies, AddressSource scheduler,
             WorkerNodeEvents& events);

  // Joins the job; done when the scheduler says that all have gathered and every shard is connected.
  void Join(Done done);
  // REQUIRES (all below): joined.
  [[nodiscard]] WorkerId rank() const { return joining_.self().worker; }
  [[nodiscard]] const JobOptions& job() const { return joining_.job(); }

  // Names a table; ids are dense, in the order of the calls. `pair` outlives the node.
  Result<TableId> CreateTable(const TableSpec& spec, ParameterPair& pair);
  // Agrees with the scheduler on all tables created so far, then pulls the initial values of the new
  // job-clock ones.
  void Start(Done done);
  void Broadcast(TableId table, std::span<const float> values, std::shared_ptr<const void> pin, Done done);

  // Sets an array of a job-clock table: its values, or one of its optimizer's. `done` gets
  // kFailedPrecondition if the table has its gradient of this iteration, or if the optimizer has run since
  // this worker read the table; then some blocks may have been set.
  void Assign(TableId table, AssignedArray array, LentGradient values, Done done);
  // Reads from the servers: the values, the values if they are newer than those in use, or the state.
  void ReadArrays(TableId table, ArraysWanted what, ArraysDone done);

  // Pushes every block of the table, at most once an iteration, then pulls them for the next. A table with a
  // clock of its own begins its next iteration with each push. `done` gets an error if a block was refused.
  Status Push(TableId table, LentGradient gradient, Done done);
  // Ends the iteration: absent for job-clock tables without a gradient, pulls for them, on to the next
  // iteration, or to a later one if blocks whose model skips ahead are there already. With a group the
  // iteration is of that one alone: tables of other groups that have no gradient are idle in it.
  Status Clock(std::optional<std::uint32_t> group = std::nullopt);
  // The tables that this iteration has used, in the order of their first use: Sync may not have been asked
  // for all of them.
  void NoteUses(std::span<const TableId> tables) { training_.NoteUses(tables); }
  // Calls back once the table may be used in this iteration (pair.ready() >= iteration - 1); at once if it
  // may now. Until a gradient is handed in, the iteration may become a later one here (iteration() says). The
  // user waits since `asked`; a later time counts as now.
  void Sync(TableId table, Done usable, TimePoint asked = TimePoint::max());

  // The values of a table with a clock of its own, after the worker's own pushes so far.
  Status Pull(TableId table, std::span<float> values, Done done);

  // Around several of the calls above: what they have to send goes out together at the end, in the fewest
  // frames. No event comes between.
  void BeginCalls() { training_.ports().BeginCalls(); }
  void EndCalls();

  // An error if `what`, a call that waits for every member, may never end now: this worker has made a step,
  // and a table follows a model that leaves iterations out. Barrier asks by itself.
  [[nodiscard]] Status MayMeet(const std::string& what) const;
  void Barrier(const std::string& name, Done done);
  // `used` as in Worker::LeaseBatches.
  void LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                    std::span<const Iteration> used,
                    std::function<void(const Status&, const BatchLease&)> done);
  // Another synchronization model for some tables and servers, from now on ("tables=fc* sync=ssp:3"). `done`
  // when every shard has it, with how many tables it means, or with why nothing has changed.
  void SetSync(const std::string& rule, std::function<void(const Status&, std::uint32_t tables)> done);
  // The specs of the models that the blocks of these tables (a glob) have now, as far as this worker was
  // told; each once.
  [[nodiscard]] std::vector<std::string> SyncsOf(const std::string& tables) const {
    return BlockRules::SyncsOf(tables, training_.tables());
  }
  // Leaves all counts, after the last verdict; from then on an observer.
  void Leave(Done done);
  // After Leave: waits until no member is left, then pulls every table's final values.
  void Finish(Done done);
  // Goodbye to all; nothing works afterwards. `done` when it has been handed to the transport.
  void Shutdown(Done done);
  // Goodbye as one that dies: every pending callback and OnFailed get `why`, which must be an error.
  void Abandon(const Status& why);

  // Of a client that keeps a state, between two iterations: whether a checkpoint wants it now. The node
  // writes the state while training goes on, and drops one that is not wanted. An empty state means nothing.
  [[nodiscard]] bool StateWanted() const {
    return life_.Is(WorkerPhase::kMember) && client_state_.IsWanted(iteration());
  }
  void GiveState(RankBytes state);
  // The state that this rank gave to the checkpoint that the job began from; null: nothing.
  [[nodiscard]] const RankBytes& restored_state() const { return client_state_.restored(); }

  [[nodiscard]] Iteration iteration() const { return training_.iteration(); }
  // As in Worker.
  [[nodiscard]] bool goes_on() const { return joining_.goes_on(); }
  [[nodiscard]] const WorkerCounters& counters() const { return counters_; }
  [[nodiscard]] const OverlapAccount& overlap() const { return training_.overlap(); }
  // A figure for the next report to the scheduler.
  void SetFigure(const std::string& name, double value) { reporting_.SetFigure(name, value); }
  // For tests. A block goes on under a new term; pushes above `last` that were acknowledged went with the
  // owner before.
  void SetResumeObserver(BlockMoves::Resumed observer) { intake_.moves().SetObserver(std::move(observer)); }
  void SetVerdictObserver(VerdictObserver observer) { training_.loans().SetObserver(std::move(observer)); }
  // The wait of now, in words: which server, block, since when, and the age of its last
  // message.
  [[nodiscard]] std::string WaitingFor() const { return FindWait(View()).text; }
  // The same and more, in several lines: the shard and the scheduler say under which condition the wait ends,
  // which workers it is for, how old their last messages are; and what to do. `done` comes within a few
  // seconds, unless the worker ends before.
  void ExplainWait(Explained done) { reporting_.Explain(rank(), std::move(done)); }

 private:
  // LinkEvents. Link 0 is the scheduler's, 1 + n that of shard n.
  wire::pb::Hello MakeHello(std::uint32_t) override { return joining_.MakeHello(); }
  void OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) override;
  void OnDown(std::uint32_t link, const Status& why) override;
  void OnFailed(std::uint32_t link, const Status& why) override;
  Result<Landing> OnFrameStart(std::uint32_t link, const FrameHead& head,
                               std::span<const std::byte> body) override;
  void OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
               Landing&& landing) override;

  // Phases.
  [[nodiscard]] Status CheckMember() const { return life_.CheckMember(rank()); }
  // Goes on from joining, leaving or finishing, unless something holds the worker there.
  void EnterNextPhase();
  void OnWelcome(const wire::pb::Welcome& welcome);
  void OnRoster(const wire::pb::Roster& roster);

  // Frames.
  [[nodiscard]] Status OnSchedulerFrame(wire::Kind kind, std::span<const std::byte> body);
  [[nodiscard]] Status OnShardFrame(ShardPort& port, const FrameHead& head, std::span<const std::byte> body,
                                    Landing& landing);
  void AfterVerdicts();

  // Ends of all kinds.
  void Fail(const Status& why);
  void StopLinks(const Status& why);
  void FailPending(const Status& why);
  // Tells of the end, as soon as no send reads memory of the user any more.
  void TellIfDrained();

  [[nodiscard]] WorkerView View() const;

  Env& env_;
  WorkerNodeEvents& events_;
  WorkerCounters counters_;
  DueCallbacks due_;
  Joining joining_;
  LifeCycle life_;
  Link scheduler_;
  SchedulerRequests requests_;
  Training training_;
  ShardIntake intake_;
  ClientState client_state_;
  Reporting reporting_;
};

}  // namespace leeway
