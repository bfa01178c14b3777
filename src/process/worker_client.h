// WorkerClient: leeway::Worker over a WorkerNode, which NodeCalls keeps on a thread of its own.
//
// Using a ready table takes no lock and no call: Sync reads the atomics of its ParameterPair. The caller's
// thread makes all checks that need no node.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assembly/assembly.h"
#include "checkpoint/rank_file.h"
#include "leeway/worker.h"
#include "process/client_life.h"
#include "process/client_tables.h"
#include "process/compute_record.h"
#include "process/condition_rule.h"
#include "process/console_log.h"
#include "process/local_job.h"
#include "process/node_calls.h"
#include "process/step_trace.h"
#include "process/trace_file.h"
#include "process/wait_times.h"

namespace leeway {

// The scheduler and server of a worker that was given no scheduler.
struct OwnJob {
  ConsoleLog log{"worker", LogLevel::kWarning};
  std::unique_ptr<LocalJob> job;
};

class WorkerClient final : public Worker, private WorkerNodeEvents {
 public:
  // A thread that waits in a call asks `interrupted` (may be empty) ten times a second; true ends the wait
  // with kCancelled. `own_job` (may be null) ends with the worker.
  WorkerClient(const WorkerOptions& options, Policies policies, std::function<bool()> interrupted,
               std::unique_ptr<OwnJob> own_job = nullptr);
  ~WorkerClient() override;

  // Starts the node and joins the job.
  [[nodiscard]] Status Join();

  [[nodiscard]] WorkerId rank() const override { return joined_.rank; }
  [[nodiscard]] std::uint32_t size() const override { return joined_.job.workers; }
  [[nodiscard]] const JobOptions& job() const override { return joined_.job; }

  [[nodiscard]] std::shared_ptr<float> Allocate(std::size_t elements) override;
  Result<TableId> CreateTable(const TableSpec& spec, TableBuffers buffers) override;
  Status Start() override;
  Status Broadcast(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) override;

  Status Assign(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) override;
  Result<std::vector<float>> ReadValues(TableId id, bool even_if_known) override;
  Result<TableState> ReadState(TableId id) override { return ReadArrays(id, ArraysWanted::kState); }
  Status WriteState(TableId id, const TableState& state) override;

  Result<Ticket> Push(TableId id, std::span<const float> gradient, PushOptions how) override;
  Result<std::vector<Ticket>> PushAll(std::vector<TablePush> pushes) override;
  Status Clock() override { return End(std::nullopt); }
  Status Clock(std::uint32_t group) override { return End(group); }
  Result<std::span<const float>> Sync(TableId id) override;
  [[nodiscard]] bool Ready(TableId id) const override { return tables_.Ready(id, iteration()); }

  Result<Ticket> Pull(TableId id, std::span<float> values, std::function<void(const Status&)> done) override;
  Result<Ticket> PushPull(TableId id, std::span<const float> gradient, std::span<float> values,
                          PushOptions how) override;
  Status Wait(Ticket ticket) override;
  [[nodiscard]] bool Done(Ticket ticket) const override { return life_.forked() || calls_->Done(ticket); }

  Status MayMeet(const std::string& what) override;
  Status Barrier(const std::string& name) override;
  Result<BatchLease> LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                                  std::span<const Iteration> used) override;

  Result<std::uint32_t> SetSync(const std::string& rule) override;
  Result<std::uint32_t> SetCondPull(const std::string& tables, const std::string& formula) override {
    return SetCondition("SetCondPull", SyncCondition::kPull, tables, formula);
  }
  Result<std::uint32_t> SetCondPush(const std::string& tables, const std::string& formula) override {
    return SetCondition("SetCondPush", SyncCondition::kPush, tables, formula);
  }

  [[nodiscard]] bool StateWanted() const override {
    return iteration_.load(std::memory_order_relaxed) >= state_wanted_from_.load(std::memory_order_acquire);
  }
  Status GiveState(std::vector<std::byte> state) override;
  [[nodiscard]] std::span<const std::byte> RestoredState() const override {
    if (joined_.restored_state == nullptr) return {};
    return *joined_.restored_state;
  }

  Status Leave() override;
  Status Finish() override;
  Status Shutdown() override;

  [[nodiscard]] Iteration iteration() const override {
    return Iteration(iteration_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] bool goes_on() const override { return joined_.goes_on; }
  [[nodiscard]] WorkerCounters counters() const override;
  void SetFigure(const std::string& name, double value) override;
  [[nodiscard]] Trace* trace() const override { return trace_.get(); }
  [[nodiscard]] std::string WaitingFor() const override {
    return life_.HasNode() ? calls_->WaitingFor() : "";
  }

 private:
  // The node's answers to the join. They do not change later.
  struct Joined {
    WorkerId rank = kNoWorker;
    JobOptions job;
    bool goes_on = false;
    RankBytes restored_state;  // null: nothing
  };

  // On the node's thread.
  void OnFailing(const Status& why) override { life_.OnFailing(why); }
  void OnFailed(const Status& /*why*/) override { life_.OnFailed(); }
  void OnStateWanted(Iteration from) override { state_wanted_from_ = from.value(); }
  void OnIteration(Iteration now) override;
  void OnGated(bool gated) override { gated_ = gated; }
  [[nodiscard]] std::optional<bool> UserWaits() const override { return calls_->AnyThreadWaits(); }
  [[nodiscard]] bool UserMayCompute() const override { return calls_->SeveralWaited(); }

  Status AssignArray(TableId id, AssignedArray array, std::span<const float> values,
                     std::shared_ptr<const void> pin);
  Result<TableState> ReadArrays(TableId id, ArraysWanted wanted);
  Result<std::uint32_t> SetCondition(const char* call, SyncCondition given, const std::string& tables,
                                     const std::string& formula);
  // Clock of one group, or of all.
  Status End(std::optional<std::uint32_t> group);
  [[nodiscard]] Status OpenTrace();
  // Sends the record so far to the scheduler with the next beat.
  void ReportRecord();
  // Joins the thread and destroys the node. No callback follows.
  void StopThread(const Status& why);

  std::unique_ptr<OwnJob> own_job_;  // first: ends after the worker's thread
  const WorkerOptions options_;
  const Policies policies_;
  ConsoleLog log_;
  Joined joined_;
  ClientTables tables_;
  ClientLife life_;
  // Every Clock raises it here, so that no Clock waits for the node. The node raises it when it skips to a
  // later iteration. Both only ever raise it, and the node's count is never lower.
  std::atomic<std::int64_t> iteration_{0};
  std::atomic<std::int64_t> state_wanted_from_{kIterationMax.value()};
  std::map<std::string, BatchLease> kept_leases_;  // by pool; on the node's thread
  std::atomic<bool> gated_{false};
  std::unique_ptr<ComputeRecord> record_;  // null: not wanted
  std::unique_ptr<TraceFile> trace_;       // null: not wanted
  std::unique_ptr<StepTrace> step_trace_;  // the same
  WaitTimes waits_;
  bool finished_ = false;
  WorkerCounters final_counters_;  // once stopped
  // Last: the node and its thread end before all that they use.
  std::unique_ptr<NodeCalls> calls_;
};

// Worker::Initialize for callers with signal handling of their own.
[[nodiscard]] Result<std::unique_ptr<Worker>> InitializeWorker(const WorkerOptions& given,
                                                               std::function<bool()> interrupted);

}  // namespace leeway
