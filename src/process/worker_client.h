// WorkerClient: leeway::Worker over a WorkerNode on a thread of its own.
//
// The user's threads queue calls to the node and own all blocking waits, in which they may run the node's
// loop: "the node's thread" is whichever runs it. Using a table that is ready takes no lock and no call: Sync
// looks at the atomics of its ParameterPair. Checks that need no node are made on the caller's thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "assembly/assembly.h"
#include "leeway/worker.h"
#include "process/call_queue.h"
#include "process/compute_record.h"
#include "process/console_log.h"
#include "process/help_gate.h"
#include "process/local_job.h"
#include "process/node_thread.h"
#include "process/ticket_book.h"
#include "process/user_waits.h"
#include "process/wait_times.h"
#include "transport/system/fork_guard.h"

namespace leeway {

// The rest of the job of a worker that was given no scheduler.
struct OwnJob {
  ConsoleLog log{"worker", LogLevel::kWarning};
  std::unique_ptr<LocalJob> job;
};

class WorkerClient final : public Worker,
                           private WorkerNodeEvents,
                           private CallMaker,
                           private TicketBook::Helper {
 public:
  // `interrupted` (may be empty) is asked ten times a second by a thread that waits in a call; true ends the
  // wait with kCancelled.
  // `own_job` (may be null) ends with the worker.
  WorkerClient(const WorkerOptions& options, std::function<bool()> interrupted,
               std::unique_ptr<OwnJob> own_job = nullptr);
  ~WorkerClient() override;

  // Starts the node and joins the job.
  [[nodiscard]] Status Join();

  [[nodiscard]] WorkerId rank() const override { return rank_; }
  [[nodiscard]] std::uint32_t size() const override { return job_.workers; }
  [[nodiscard]] const JobOptions& job() const override { return job_; }

  [[nodiscard]] std::shared_ptr<float> Allocate(std::size_t elements) override;
  Result<TableId> CreateTable(const TableSpec& spec, TableBuffers buffers) override;
  Status Start() override;
  Status Broadcast(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) override;

  // (worker_arrays.cc)
  Status Assign(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) override;
  Result<std::vector<float>> ReadValues(TableId id, bool even_if_known) override;
  Result<TableState> ReadState(TableId id) override;
  Status WriteState(TableId id, const TableState& state) override;

  Result<Ticket> Update(TableId id, std::span<const float> gradient, UpdateOptions how) override;
  Result<std::vector<Ticket>> UpdateAll(std::vector<TableUpdate> updates) override;  // (worker_updates.cc)
  Status Clock() override { return End(std::nullopt); }
  Status Clock(std::uint32_t group) override { return End(group); }
  Result<std::span<const float>> Sync(TableId id) override;
  [[nodiscard]] bool Ready(TableId id) const override;

  Result<Ticket> Push(TableId id, std::span<const float> gradient, UpdateOptions how) override;
  Result<Ticket> Pull(TableId id, std::span<float> values, std::function<void(const Status&)> done) override;
  Result<Ticket> PushPull(TableId id, std::span<const float> gradient, std::span<float> values,
                          UpdateOptions how) override;
  Status Wait(Ticket ticket) override;
  [[nodiscard]] bool Done(Ticket ticket) const override;

  Status MayMeet(const std::string& what) override;
  Status Barrier(const std::string& name) override;
  Result<BatchLease> LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                                  std::span<const Iteration> used) override;

  // (worker_sync.cc)
  Result<std::uint32_t> SetSync(const std::string& rule) override;
  Result<std::uint32_t> SetCondPull(const std::string& tables, const std::string& formula) override;
  Result<std::uint32_t> SetCondPush(const std::string& tables, const std::string& formula) override;

  [[nodiscard]] bool StateWanted() const override {
    return iteration_.load(std::memory_order_relaxed) >= state_wanted_from_.load(std::memory_order_acquire);
  }
  Status GiveState(std::vector<std::byte> state) override;
  [[nodiscard]] std::span<const std::byte> RestoredState() const override { return restored_state_; }

  Status Leave() override;
  Status Finish() override;
  Status Shutdown() override;

  [[nodiscard]] Iteration iteration() const override {
    return Iteration(iteration_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] bool goes_on() const override { return goes_on_; }
  [[nodiscard]] WorkerCounters counters() const override;
  void SetFigure(const std::string& name, double value) override;
  [[nodiscard]] std::string WaitingFor() const override;

 private:
  // What the caller's side knows of a table. Only `pair` is shared with the node.
  struct Table {
    // First what every call looks at, together in one line of a cache.
    bool started = false;
    TableClock clock = TableClock::kJob;
    std::size_t elements = 0;
    ParameterPair* pair = nullptr;
    std::int64_t updated = -1;  // how many Clocks came before the last Update
    std::int64_t synced = -1;   // and before the last Sync
    Status refusal;             // of Start
    TableSpec spec;
    [[nodiscard]] bool own_clock() const { return clock == TableClock::kOwn; }
  };

  // On the node's thread.
  void OnFailing(const Status& why) override;
  void OnFailed(const Status& why) override;
  void OnStateWanted(Iteration from) override { state_wanted_from_ = from.value(); }
  void OnIteration(Iteration now) override;
  void OnGated(bool gated) override { gated_ = gated; }
  [[nodiscard]] std::optional<bool> UserWaits() const override {
    return user_waits_.AnyWaits([this](Ticket ticket) { return tickets_.Done(ticket); });
  }
  [[nodiscard]] bool UserMayCompute() const override { return user_waits_.SeveralWaited(); }

  // The state that every call begins with: not forked, not shut down, not failed.
  [[nodiscard]] Status CheckAlive() const;
  [[nodiscard]] Status CheckFork() const;
  [[nodiscard]] Status CheckMember() const;
  [[nodiscard]] Result<Table*> FindStarted(TableId id);
  // Queues a call that ends with a status, under a new ticket.
  Result<Ticket> Begin(std::function<void(WorkerNode&, leeway::Done)> call);
  // What is waited for, in words; made only if they are said.
  using What = std::function<std::string()>;
  // Without a pin: a copy, since the wait may be broken off while the node still sends. `what` is for the
  // error that there is no memory.
  [[nodiscard]] Status PinOrCopy(const Table& table, const char* what, std::span<const float>& values,
                                 std::shared_ptr<const void>& pin);
  Status AssignArray(TableId id, AssignedArray array, std::span<const float> values,
                     std::shared_ptr<const void> pin);
  Result<TableState> ReadArrays(TableId id, ArraysWanted wanted);
  // Begin, and waits for the outcome.
  Status Block(std::function<void(WorkerNode&, leeway::Done)> call, const What& what);
  Status Block(std::function<void(WorkerNode&, leeway::Done)> call, const std::string& what) {
    return Block(std::move(call), [&what] { return what; });
  }
  // Queues `call` under a new ticket that ends with so many parts.
  Result<Ticket> Queue(Call&& call, int parts = 1);
  Status WaitFor(Ticket ticket, const What& what, bool forget);
  // Whether what this worker waits for is up to other workers, as far as servers and scheduler say. Those are
  // waited for as long as the scheduler counts them.
  [[nodiscard]] bool WaitsForMembers();
  // While one is there, a thread of the user waits for the ticket.
  class UserWait {
   public:
    UserWait(WorkerClient& client, Ticket ticket);
    ~UserWait();
    UserWait(const UserWait&) = delete;
    UserWait& operator=(const UserWait&) = delete;

   private:
    WorkerClient& client_;
  };
  // Why the worker ends without its Shutdown.
  [[nodiscard]] Status GoodbyeReason() const;
  // (worker_sync.cc)
  enum class Condition : std::uint8_t { kPull, kPush };
  // The condition of this kind that these tables have now. An error if it cannot be written as a formula, or
  // is not the same for all of them; `call` is named in it.
  Result<std::string> ConditionOf(const char* call, const std::string& tables, Condition kind);
  [[nodiscard]] static Status CheckLoan(const Table& table, std::span<const float> gradient,
                                        const UpdateOptions& how);
  // The table, if it may have this update now.
  [[nodiscard]] Result<Table*> CheckUpdate(TableId id, std::span<const float> gradient,
                                           const UpdateOptions& how);
  [[nodiscard]] static Status CheckRoom(const Table& table, std::span<const float> values);
  // A call that lends a gradient.
  [[nodiscard]] static Call Lending(Call::Kind kind, TableId id, std::span<const float> gradient,
                                    UpdateOptions&& how);
  // TicketBook::Helper: instead of sleeping until the I/O thread has sent the call and received its outcome,
  // who waits runs the node's loop itself.
  bool Help(const std::function<bool()>& finished, std::chrono::steady_clock::time_point until) override;
  void LeaveToOthers() override;
  // CallMaker, on the node's thread.
  void BeginCalls() override { node_->BeginCalls(); }
  void Make(Call& call) override;
  [[nodiscard]] bool CallersSleep() const override { return tickets_.HasSleeper(); }
  [[nodiscard]] bool CallersWait() const override { return tickets_.HasWaiter(); }
  void EndCalls() override { node_->EndCalls(); }
  void MakePushPull(Call& call);
  // Clock of one group, or of all.
  Status End(std::optional<std::uint32_t> group);
  void EndIteration(std::optional<std::uint32_t> group);
  // What the record has so far goes to the scheduler with the next beat.
  void ReportRecord();
  // What a call ends with, or each of its parts.
  [[nodiscard]] leeway::Done DoneOf(const Call& call);
  // Joins the thread and lets go of the node. Nothing is called back afterwards.
  void StopThread(const Status& why);

  std::unique_ptr<OwnJob> own_job_;  // first: ends after the worker's thread
  const WorkerOptions options_;
  const Policies policies_ = Policies::Builtin();
  const std::function<bool()> interrupted_;
  const std::chrono::milliseconds answer_max_;  // for anything but live workers
  const ForkGuard fork_;
  ConsoleLog log_;
  WorkerId rank_;
  JobOptions job_;
  bool goes_on_ = false;

  // Buffers outlive the node, which lands in them: also those of tables that it refused.
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  std::vector<std::unique_ptr<Table>> tables_;
  TicketBook tickets_;
  CallQueue calls_;
  std::map<std::string, BatchLease> kept_leases_;  // by pool; on the node's thread
  HelpGate helpers_;                               // who runs the loop of thread_ in a wait
  std::unique_ptr<NodeThread> thread_;
  std::unique_ptr<WorkerNode> node_;  // after thread_: destroyed first, once the thread has stopped

  // Counted here by every Clock, so that none waits for the node; raised by the node where that goes on in a
  // later one. Both only ever raise it, and the node's is never lower.
  std::atomic<std::int64_t> iteration_{0};
  std::int64_t clocks_ = 0;  // iterations that this process has ended
  std::atomic<bool> gated_{false};
  std::atomic<std::int64_t> state_wanted_from_{kIterationMax.value()};
  std::vector<std::byte> restored_state_;
  std::unique_ptr<ComputeRecord> record_;  // null: nobody wants it
  WaitTimes waits_;
  leeway::UserWaits user_waits_;
  std::atomic<bool> failed_{false};
  mutable std::mutex failure_mutex_;
  std::condition_variable failure_known_;
  Status failure_;
  Status gave_up_;                // the last wait that reached its limit
  bool failure_settled_ = false;  // every pending callback has heard of it
  bool left_ = false;
  bool finished_ = false;
  std::atomic<bool> stopped_{false};
  WorkerCounters final_counters_;  // once stopped
};

// Worker::Initialize for callers with signals of their own to look after.
[[nodiscard]] Result<std::unique_ptr<Worker>> InitializeWorker(const WorkerOptions& given,
                                                               std::function<bool()> interrupted);

}  // namespace leeway
