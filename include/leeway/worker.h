// Worker: the client of a training process, and every call that a user makes.
//
//   auto options = WorkerOptions::FromEnvironment();    // as `leeway run -- ./mine` says
//   auto worker = Worker::Initialize(*options);         // joins the job, or is one alone
//   auto table  = worker->CreateTable({.name = "w", .shape = {1000}});
//   worker->Start();                                    // all workers agree on tables; blocks are placed
//   worker->Broadcast(table, initial);                  // the first broadcast of a table gives its values
//   for (...) {
//     // Waits until the table may be used in this iteration.
//     span<const float> w = worker->Sync(table);
//     // Lends the gradient until its ticket is done.
//     worker->Push(table, gradient, how);
//     // Ends the iteration; tables without a push are absent.
//     worker->Clock();
//   }
//   // Leaves, waits for the last member, pulls the final values.
//   worker->Shutdown();
//
// Tables with TableClock::kOwn work as in ps-lite: Push, Pull and Wait need no Clock, and each Push is one
// iteration of its table.
//
// Thread rule: one thread at a time makes the iteration calls (Push, PushAll, Clock, Sync, Pull,
// PushPull). Callbacks run one at a time, on the worker's I/O thread. A callback must not block, nor take a
// lock that a thread holds across a call that waits. A blocking call waits at most options.wait_max and names
// the cause of its wait. In the child of a fork() every call that can fail returns kFailedPrecondition.
//
// Lifetime rule: Initialize returns the only owner. Memory from Allocate outlives the worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/table.h"

namespace leeway {

// How the servers apply one gradient.
struct PushOptions {
  Hyper hyper = {};
  std::uint32_t samples = 1;             // the gradient is a mean over this many samples
  std::shared_ptr<const void> pin = {};  // dropped once the gradient is no longer needed (as callbacks run)
  // Runs once every block has its verdict; a refused block gives an error.
  std::function<void(const Status&)> done = {};
  // When the gradient was final, by CLOCK_MONOTONIC, if that was before the call: the account of overlap
  // counts from then on.
  TimePoint ready = TimePoint::max();
};

// One of several pushes of a PushAll.
struct TablePush {
  TableId table;
  std::span<const float> gradient;
  PushOptions how = {};
};

using Ticket = std::uint64_t;  // names one asynchronous call; 0: no call

// The parameter memory of a table: two buffers of elements() floats. The user gives both, or (null) the
// worker allocates both.
struct TableBuffers {
  float* first = nullptr;
  float* second = nullptr;
};

// The state of a table's optimizer on the servers.
struct TableState {
  // The number of runs; where blocks differ (immediate application), the highest.
  std::uint64_t steps = 0;
  // Arrays of elements() floats, in the optimizer's own order: adam has exp_avg and exp_avg_sq.
  std::vector<std::vector<float>> arrays = {};
};

struct WorkerCounters {
  std::uint64_t pushes = 0;  // blocks pushed, by their verdicts:
  std::uint64_t applied = 0, summed = 0, absent = 0, late_dropped = 0, refused = 0;
  std::uint64_t pulls = 0, answers = 0, unchanged = 0;
  std::uint64_t resent = 0, reconnects = 0;
  // Connections to shards, by what carried them: "local", "uds", "tcp".
  std::map<std::string, std::uint64_t> connected_over = {};
  // Pushes that had a verdict and were lost with a server that died: its successor does not have them.
  std::uint64_t lost = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t wait_ns = 0;  // time in which the caller's thread waited: Sync, Wait, Barrier, leases, Finish
  std::uint64_t lead_sum = 0;  // over answers: progress + 1 - v_train, where positive
  // Counts blocks that a gradient was computed on, by the lead over their v_train; the last entry counts all
  // higher leads.
  std::array<std::uint64_t, 17> lead = {};
  // The account of overlap: the time in which a table was on its way, and the part of it that was waited for.
  std::uint64_t communication_ns = 0, communication_waited_ns = 0;
  // The parts of wait_ns by the thing that came last: "server.0", "table.w". "worker.3" is the part that
  // lasted until worker 3 had sent its missing push. Each kind has a few dozen entries at most, then
  // "others". Without overlap, "step.barrier" is the time until the barrier of the step.
  std::map<std::string, std::uint64_t> wait_by_ns = {};
  std::uint64_t skipped_blocks = 0;  // used without a newer version (partial pull)
  // Answers that came after an iteration had begun without them (partial pull). Studies read it; reports do
  // not have it.
  std::uint64_t late_answers = 0;
  // Gradients not sent because they were known to be late (counted in absent too).
  std::uint64_t skipped_late = 0;
  std::uint64_t iterations_skipped = 0;  // skipped to catch up
  // Exchanges of tables whose gradients were added up here instead (counted in absent too).
  std::uint64_t exchanges_skipped = 0;
};

// The plain counts by name, as reports and the Python binding show them.
struct WorkerCount {
  const char* name;
  std::uint64_t WorkerCounters::*count;
};
inline constexpr WorkerCount kWorkerCounts[] = {{"pushes", &WorkerCounters::pushes},
                                                {"applied", &WorkerCounters::applied},
                                                {"summed", &WorkerCounters::summed},
                                                {"absent", &WorkerCounters::absent},
                                                {"late_dropped", &WorkerCounters::late_dropped},
                                                {"refused", &WorkerCounters::refused},
                                                {"pulls", &WorkerCounters::pulls},
                                                {"answers", &WorkerCounters::answers},
                                                {"unchanged", &WorkerCounters::unchanged},
                                                {"resent", &WorkerCounters::resent},
                                                {"reconnects", &WorkerCounters::reconnects},
                                                {"bytes_sent", &WorkerCounters::bytes_sent},
                                                {"bytes_received", &WorkerCounters::bytes_received},
                                                {"lead_sum", &WorkerCounters::lead_sum},
                                                {"skipped_blocks", &WorkerCounters::skipped_blocks},
                                                {"skipped_late", &WorkerCounters::skipped_late},
                                                {"iterations_skipped", &WorkerCounters::iterations_skipped},
                                                {"exchanges_skipped", &WorkerCounters::exchanges_skipped}};

// A run of batch numbers leased from a pool (leeway.BatchPool); no batches and `exhausted` when the pool is
// used up.
struct BatchLease {
  std::vector<std::uint64_t> batches;
  bool exhausted = false;
};

class Trace;  // leeway/trace.h

class Worker {
 public:
  // Joins the job; returns once the job has all its workers and servers. Without a scheduler in the options
  // this process becomes a job of its own: the worker, a server and a scheduler, with no open port.
  static Result<std::unique_ptr<Worker>> Initialize(const WorkerOptions& options);
  virtual ~Worker() = default;  // without a Shutdown before, the job sees a worker that died

  [[nodiscard]] virtual WorkerId rank() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;  // members that the job started with
  [[nodiscard]] virtual const JobOptions& job() const = 0;

  // Allocates memory, filled with zeros, for gradients and parameters. A server on the same host reads it in
  // place, so the worker sends it without a copy. (A user may lend any other memory too.) The last owner
  // frees it, even after the end of the worker. After Shutdown, and in a forked child, it is plain memory.
  // Null if memory is short.
  [[nodiscard]] virtual std::shared_ptr<float> Allocate(std::size_t elements) = 0;

  virtual Result<TableId> CreateTable(const TableSpec& spec, TableBuffers buffers = {}) = 0;
  // Agrees with the job on the tables created since the last Start. A user may create more tables and call it
  // again.
  virtual Status Start() = 0;
  // Offers initial values and waits until the servers have them. The first offer in the job counts; the
  // servers ignore later ones. Any rank may call it.
  //
  // Without a pin the call copies the values. With a pin it lends them, as a gradient: a server on the same
  // host reads memory from Allocate in place. The caller must not change them until the call returns. If the
  // call gave up waiting (wait_max, an interrupt), the caller must not change them until the pin drops (as
  // callbacks run), because the worker may still read and resend them. The caller may also lend the table's
  // buffer in use: no values land in it meanwhile.
  virtual Status Broadcast(TableId table, std::span<const float> values,
                           std::shared_ptr<const void> pin = {}) = 0;

  // Sets the values of a table that follows the job's clock, and waits until the servers have them. Call it
  // between two iterations: after this iteration's Push it is an error. It counts once, in order with this
  // worker's gradients. Other workers get the values with their next pull; a gradient computed on older
  // values is added to them. The servers refuse it if they have stepped on a gradient that this worker has
  // not read, because the call would undo that step. Under bsp this cannot happen.
  //
  // With a pin the call lends the values, as Broadcast does.
  virtual Status Assign(TableId table, std::span<const float> values,
                        std::shared_ptr<const void> pin = {}) = 0;
  // Returns the values that the servers have now, which may be newer than those in use; empty if the servers
  // have nothing newer. If only some blocks are newer, the others come from the buffer in use, including the
  // caller's own writes to it. With `even_if_known` all blocks come from the servers, and the result is never
  // empty.
  virtual Result<std::vector<float>> ReadValues(TableId table, bool even_if_known = false) = 0;
  // Returns the optimizer's present state. After Sync under bsp it belongs to the values in use, because no
  // iteration ends without this worker.
  virtual Result<TableState> ReadState(TableId table) = 0;
  // Sets the optimizer's state, as Assign sets values. REQUIRES: as many arrays as the optimizer has, all
  // finite.
  virtual Status WriteState(TableId table, const TableState& state) = 0;

  // Pushes the gradient of this iteration. A table takes one push per iteration; a table with a clock of its
  // own begins its next iteration with each.
  virtual Result<Ticket> Push(TableId table, std::span<const float> gradient, PushOptions how = {}) = 0;
  // Makes several pushes at once and returns their tickets in the same order; on an error it makes none of
  // them. The I/O thread wakes up once for all. With a call for each table it may take the caller's core
  // every time, to send a frame of one table.
  virtual Result<std::vector<Ticket>> PushAll(std::vector<TablePush> pushes) = 0;
  // Ends the iteration: tables without a push are absent, and every table whose pull has not left with its
  // push pulls now.
  virtual Status Clock() = 0;
  // Ends an iteration of one group of tables (TableSpec::group), for a script with several optimizers. Tables
  // of other groups without a push are idle: their synchronization models do not count this iteration. All
  // workers clock the groups in the same order.
  virtual Status Clock(std::uint32_t group) = 0;
  // Waits until the table may be used in this iteration, swaps its buffers if newer values are there, and
  // returns the buffer in use. The buffer does not change until the first Sync of a later iteration.
  //
  // Under apply=relay the servers step nothing. Sync returns the initial values before the first Clock, and
  // after each Clock the mean gradient of the iteration that it ended: sum(samples * g) / sum(samples) * d/N,
  // where d of N members gave one. It returns an empty span if nobody gave one. The user then steps a copy of
  // the parameters of its own.
  virtual Result<std::span<const float>> Sync(TableId table) = 0;
  // True if Sync would not wait for values. Under `bounded` Sync may still wait for verdicts.
  [[nodiscard]] virtual bool Ready(TableId table) const = 0;

  // Pulls the values of a table with a clock of its own, after this worker's pushes so far.
  virtual Result<Ticket> Pull(TableId table, std::span<float> values,
                              std::function<void(const Status&)> done = {}) = 0;
  // Push and Pull in one call, with one ticket. The ticket is done once the push has its verdict and the
  // values after it are here. Until then both buffers are on loan.
  virtual Result<Ticket> PushPull(TableId table, std::span<const float> gradient, std::span<float> values,
                                  PushOptions how = {}) = 0;
  // Waits for a ticket and returns its outcome once; then the worker forgets the ticket. kNotFound for ticket
  // 0 and unknown ones.
  virtual Status Wait(Ticket ticket) = 0;
  // Returns whether the ticket's outcome has arrived; true for unknown tickets.
  [[nodiscard]] virtual bool Done(Ticket ticket) const = 0;

  // Returns an error if `what`, a call that waits for every member, could wait forever. That is so after this
  // worker's first Clock under models that skip iterations (drop, psp): the member that stands still may owe
  // the gradient that another one needs. Barrier checks this itself; call it for meetings of your own over
  // Push and Pull.
  virtual Status MayMeet(const std::string& what) = 0;
  // Waits until every member of the job has called it with the same name. Refused if MayMeet returns an
  // error.
  virtual Status Barrier(const std::string& name) = 0;
  // Leases the next batches of the job-wide pool `pool` of `batches` batches, and returns the batches of the
  // last lease as done. `used` gives, in their order, the iteration in which each was used; empty: one batch
  // per iteration, from the iteration of the last call on. The job uses this when this worker dies and when
  // it resumes from a checkpoint: it hands out no batch again whose gradient the servers have.
  virtual Result<BatchLease> LeaseBatches(const std::string& pool, std::uint64_t batches,
                                          std::uint32_t wanted, std::span<const Iteration> used = {}) = 0;

  // Changes the synchronization of the running job for all workers, at once, also for waiting pulls:
  //
  //   worker->SetSync("tables=fc* server=1 sync=ssp:3 apply=immediate");
  //   worker->SetCondPull("fc*", "progress < v_train + 2");    // FluentPS's SetcondPull
  //   worker->SetCondPush("fc*", "count >= workers - 1");      // and SetcondPush
  //
  // Returns the number of tables that the rule matches, once every server has the rule. The job refuses a
  // rule that it cannot apply; then nothing changes. The two conditions make a model of formulas: the
  // condition that is not given stays as it is. The call is refused if that condition cannot stay: if it is
  // no formula (as in `pssp` or `psp`), or differs among `tables`. Then set both at once, with SetSync and
  // `when`. Options of the earlier model, such as release=soft, do not stay.
  virtual Result<std::uint32_t> SetSync(const std::string& rule) = 0;
  virtual Result<std::uint32_t> SetCondPull(const std::string& tables, const std::string& formula) = 0;
  virtual Result<std::uint32_t> SetCondPush(const std::string& tables, const std::string& formula) = 0;

  // The user's own state (random state, position in the data, a schedule) goes into the job's checkpoints,
  // one file per rank:
  //
  //   options.keeps_state = true;                              // before Initialize
  //   restore(worker->RestoredState());                        // of a job that went on from a checkpoint
  //   ... worker->Clock();
  //   if (worker->StateWanted()) worker->GiveState(bytes());   // between two iterations
  //
  // A checkpoint waits for the states of all members that keep one; a rank without state delays nobody.
  //
  // Returns whether a checkpoint wants the present state, before any work of the iteration that Clock began.
  // Cheap: ask after every Clock.
  [[nodiscard]] virtual bool StateWanted() const = 0;
  // Takes the state and returns at once; the worker writes it while training continues. The worker drops a
  // state that the checkpoint does not want (any more). An empty state means that this rank has no state this
  // time.
  virtual Status GiveState(std::vector<std::byte> state) = 0;
  // Returns the state that this rank gave to the checkpoint that the job resumed from. Empty if it gave no
  // state, or if this process joined a running job. Valid for the life of the worker.
  [[nodiscard]] virtual std::span<const std::byte> RestoredState() const = 0;

  // Leaves all counts once every push has its verdict. After it the worker may only Pull and Sync.
  virtual Status Leave() = 0;
  // Leaves, waits until no member is left, then pulls the final values of all tables (Sync returns them).
  // They are equal on all ranks.
  virtual Status Finish() = 0;
  // Finishes if Finish was not called, says goodbye and stops the I/O thread.
  virtual Status Shutdown() = 0;

  // This worker's iteration of the job clock. Under models that skip ahead it may grow by more than one in a
  // Clock and in the Syncs that follow, until the first Push.
  [[nodiscard]] virtual Iteration iteration() const = 0;
  // True if the job had begun when this worker joined, or resumes from a checkpoint: then the servers' values
  // count, and not this worker's initial ones. All ranks that begin together agree on it; they may differ in
  // `iteration`.
  [[nodiscard]] virtual bool goes_on() const = 0;
  [[nodiscard]] virtual WorkerCounters counters() const = 0;
  // Sets a named figure of the user's own (time per phase, samples, ...); the next beat reports it to the
  // scheduler. It counts up from 0 in each life of a worker. The scheduler adds the figures of earlier lives,
  // and the job's figure is the sum over workers.
  virtual void SetFigure(const std::string& name, double value) = 0;
  // The trace that this process writes (leeway run --trace), for events of the user's own work; null: none.
  [[nodiscard]] virtual Trace* trace() const = 0;
  // Names, in words, what a blocking call would wait for now; empty if nothing.
  [[nodiscard]] virtual std::string WaitingFor() const = 0;
};

}  // namespace leeway
