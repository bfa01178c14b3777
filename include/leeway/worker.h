// Worker: the client of a training process. Everything a user calls.
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
//     worker->Update(table, gradient, how);
//     // Ends the iteration; tables without an update are absent.
//     worker->Clock();
//   }
//   // Leaves, waits for the last member, pulls the final values.
//   worker->Shutdown();
//
// For ps-lite's way of working make tables with TableClock::kOwn: Push, Pull and Wait need no Clock, each
// Push is one iteration of its table.
//
// Thread rule: the iteration calls (Update, UpdateAll, Clock, Sync, Push, Pull, PushPull) come from one
// thread at a time; callbacks run one at a time, on the worker's I/O thread or on one that waits in a call,
// and must not block, nor take a lock that is held across a call that waits. A blocking call waits at most
// options.wait_max and says what it waited for. After fork() every call in the child that can fail does, with
// kFailedPrecondition.
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

#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "leeway/table.h"

namespace leeway {

// How one gradient is to be applied.
struct UpdateOptions {
  Hyper hyper = {};
  std::uint32_t samples = 1;             // the gradient is a mean over this many
  std::shared_ptr<const void> pin = {};  // dropped once the gradient is needed no more (as callbacks run)
  // Called once every block has its verdict; a refused block is an error.
  std::function<void(const Status&)> done = {};
};

// One of several updates that are handed over together.
struct TableUpdate {
  TableId table;
  std::span<const float> gradient;
  UpdateOptions how = {};
};

using Ticket = std::uint64_t;  // names one asynchronous call; 0 is none

// The parameter memory of a table: two buffers of elements() floats, both the user's or (null) both the
// worker's own.
struct TableBuffers {
  float* first = nullptr;
  float* second = nullptr;
};

// The state of a table's optimizer on the servers.
struct TableState {
  // How often it has run; of blocks that differ (immediate application) the most.
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
  // Had a verdict, and went with a server that died: its successor does not have them.
  std::uint64_t lost = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t wait_ns = 0;   // the caller's thread was held up: Sync, Wait, Barrier, leases, Finish
  std::uint64_t lead_sum = 0;  // over answers: progress + 1 - v_train, where positive
  // Blocks that a gradient was computed on, by the lead over their v_train; the last is that and more.
  std::array<std::uint64_t, 17> lead = {};
  // What wait_ns was spent on, by what came last: "server.0", "table.w"; "worker.3" is the part of it that
  // lasted until worker 3 had sent what was missing. A few dozen at most of each, then "others". Without
  // overlap what was spent until the barrier of the step is "step.barrier".
  std::map<std::string, std::uint64_t> wait_by_ns = {};
  std::uint64_t skipped_blocks = 0;      // used without a newer version (partial pull)
  std::uint64_t skipped_late = 0;        // gradients not sent: known to be late (counted in absent too)
  std::uint64_t iterations_skipped = 0;  // left out to catch up
  std::uint64_t exchanges_skipped = 0;   // of tables: their gradients added up here (absent too)
};

// A run of batch numbers leased from a pool (leeway.BatchPool); empty when the pool is used up.
struct BatchLease {
  std::vector<std::uint64_t> batches;
  bool exhausted = false;
};

class Worker {
 public:
  // Joins the job; returns when the job has all its workers and servers. Without a scheduler in the options
  // this process becomes a job of its own: the worker, a server and a scheduler, with no port open.
  static Result<std::unique_ptr<Worker>> Initialize(const WorkerOptions& options);
  virtual ~Worker() = default;  // leaves the job as one that died would, unless Shutdown was called

  [[nodiscard]] virtual WorkerId rank() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;  // members the job started with
  [[nodiscard]] virtual const JobOptions& job() const = 0;

  // Memory for gradients and parameters that a server on the same host reads where it lies: what is lent from
  // here is sent without being copied. Zeros; freed when the last owner lets go, also after the worker's end.
  // Any memory may be lent. After Shutdown and in a forked child it is plain memory. Null if there is no
  // memory.
  [[nodiscard]] virtual std::shared_ptr<float> Allocate(std::size_t elements) = 0;

  virtual Result<TableId> CreateTable(const TableSpec& spec, TableBuffers buffers = {}) = 0;
  // Agrees with the job on the tables created since the last Start. May be called again after more
  // CreateTable calls.
  virtual Status Start() = 0;
  // Offers initial values, and waits until the servers have them. The first offer of the job counts, later
  // ones are ignored. Any rank may call it.
  //
  // Without a pin the values are copied first. With one they are lent, as a gradient is: a server on the same
  // host reads what is from Allocate where it lies. They must stay as they are until the call returns; if it
  // gave up waiting (wait_max, an interrupt), until the pin is dropped (as callbacks run): they may be read,
  // and sent again, until then. The table's buffer in use may be lent too: nothing is landed in it meanwhile.
  virtual Status Broadcast(TableId table, std::span<const float> values,
                           std::shared_ptr<const void> pin = {}) = 0;

  // Sets the values of a table that follows the job's clock, between two iterations (an error after
  // this iteration's Update), and waits until the servers have them. Counts once, in order with this worker's
  // gradients. Other workers get the values with their next pull; one that computes on older ones adds its
  // gradient to them. Refused if a gradient that this worker has not read was stepped on since, which the
  // call would undo: under bsp that cannot be.
  //
  // With a pin the values are lent, as in Broadcast.
  virtual Status Assign(TableId table, std::span<const float> values,
                        std::shared_ptr<const void> pin = {}) = 0;
  // The values on the servers as they are now, which need not be those in use; empty if the servers have
  // nothing newer. If only some blocks are newer, the others come from the buffer in use, with whatever the
  // caller has written there. `even_if_known`: all come from the servers, and the result is never empty.
  virtual Result<std::vector<float>> ReadValues(TableId table, bool even_if_known = false) = 0;
  // The optimizer's state as it is now. After Sync under bsp it is that of the values in use, since no
  // iteration ends without this worker.
  virtual Result<TableState> ReadState(TableId table) = 0;
  // Sets it, as Assign sets values. As many arrays as the optimizer has, all finite.
  virtual Status WriteState(TableId table, const TableState& state) = 0;

  // Pushes the gradient of this iteration. A table may be updated once per iteration.
  virtual Result<Ticket> Update(TableId table, std::span<const float> gradient, UpdateOptions how = {}) = 0;
  // Several of them at once, with their tickets in the same order; after an error none was made. The I/O
  // thread wakes up once for all: with a call for each it may take the caller's core every time, to send a
  // frame of one table.
  virtual Result<std::vector<Ticket>> UpdateAll(std::vector<TableUpdate> updates) = 0;
  // Ends the iteration: what was not updated is absent; pulls go out for the next one.
  virtual Status Clock() = 0;
  // The same, in an iteration that is of this group of tables alone (TableSpec::group): for a script with
  // several optimizers. What was not updated in other groups is idle: their synchronization models do not
  // count this iteration. All workers clock the groups in the same order.
  virtual Status Clock(std::uint32_t group) = 0;
  // Waits until the table may be used in this iteration, swaps its buffers if newer values are there, and
  // returns the buffer now in use. It stays as it is until the first Sync of a later iteration.
  virtual Result<std::span<const float>> Sync(TableId table) = 0;
  // True when Sync would not wait for values. Under `bounded` it may still wait for verdicts.
  [[nodiscard]] virtual bool Ready(TableId table) const = 0;

  // ps-lite's calls, for tables with a clock of their own.
  virtual Result<Ticket> Push(TableId table, std::span<const float> gradient, UpdateOptions how = {}) = 0;
  virtual Result<Ticket> Pull(TableId table, std::span<float> values,
                              std::function<void(const Status&)> done = {}) = 0;
  // Push and Pull in one call, with one ticket: done once the push has its verdict and the values after it
  // are here. Until then both buffers are on loan.
  virtual Result<Ticket> PushPull(TableId table, std::span<const float> gradient, std::span<float> values,
                                  UpdateOptions how = {}) = 0;
  // Waits for a ticket and gives its outcome (once: it is forgotten then). Ticket 0 and unknown ones:
  // kNotFound.
  virtual Status Wait(Ticket ticket) = 0;
  // Has the ticket's outcome arrived? Unknown tickets are done.
  [[nodiscard]] virtual bool Done(Ticket ticket) const = 0;

  // An error if `what`, a call that waits for every member, could wait forever: after this worker's first
  // Clock under models that leave iterations out (drop, psp), where the one who stands still may be the one
  // whose gradient another needs. Barrier asks by itself; for meetings of your own, over Push and Pull.
  virtual Status MayMeet(const std::string& what) = 0;
  // Waits until every member of the job has called it with the same name. Refused where MayMeet says so.
  virtual Status Barrier(const std::string& name) = 0;
  // Leases the next batches of the job-wide pool `pool` of `batches` batches, giving back as done what was
  // leased before. `used` says of those, in their order, in which iteration each was used; empty: one in
  // each, from the one of the last call on. The job goes by it when this worker dies and when it goes on
  // from a checkpoint: a batch whose gradient the servers have is not handed out again.
  virtual Result<BatchLease> LeaseBatches(const std::string& pool, std::uint64_t batches,
                                          std::uint32_t wanted, std::span<const Iteration> used = {}) = 0;

  // Changes the synchronization of the running job, for all workers, at once and also for pulls that wait:
  //
  //   worker->SetSync("tables=fc* server=1 sync=ssp:3 apply=immediate");
  //   worker->SetCondPull("fc*", "progress < v_train + 2");    // FluentPS's SetcondPull
  //   worker->SetCondPush("fc*", "count >= workers - 1");      // and SetcondPush
  //
  // Returns when every server has it, with how many tables the rule means. What the job cannot have is
  // refused, and nothing changes. The two conditions make a model of formulas: the one that is not given
  // stays as it is. Where it cannot (it is no formula, as that of `pssp` or `psp`, or not the same for all of
  // `tables`) the call is refused: then set both at once, with SetSync and `when`. Options of the model
  // before, such as release=soft, do not stay.
  virtual Result<std::uint32_t> SetSync(const std::string& rule) = 0;
  virtual Result<std::uint32_t> SetCondPull(const std::string& tables, const std::string& formula) = 0;
  virtual Result<std::uint32_t> SetCondPush(const std::string& tables, const std::string& formula) = 0;

  // State of the user's own (random state, position in the data, a schedule) goes into the job's checkpoints,
  // one file per rank:
  //
  //   options.keeps_state = true;                              // before Initialize
  //   restore(worker->RestoredState());                        // of a job that went on from a checkpoint
  //   ... worker->Clock();
  //   if (worker->StateWanted()) worker->GiveState(bytes());   // between two iterations
  //
  // A checkpoint waits for the states of all members that keep one; a rank that keeps none holds up nobody.
  //
  // Whether a checkpoint wants the state as it is now, that is before anything of the iteration that Clock
  // began has been done. Cheap: ask after every Clock.
  [[nodiscard]] virtual bool StateWanted() const = 0;
  // Takes the state, and returns at once: it is written while training goes on. One that is not wanted (any
  // more) is dropped; an empty one says that there is none this time.
  virtual Status GiveState(std::vector<std::byte> state) = 0;
  // What this rank gave to the checkpoint that the job began from; empty if nothing (it had given none, or
  // this process came to a job that was running). Valid for the life of the worker.
  [[nodiscard]] virtual std::span<const std::byte> RestoredState() const = 0;

  // Leaves all counts once every push has its verdict; after that the worker may only Pull and Sync.
  virtual Status Leave() = 0;
  // Leave, then wait until no member is left, then pull the final values of all tables (Sync returns them),
  // equal on all ranks.
  virtual Status Finish() = 0;
  // Finish if not done before, say goodbye, stop the I/O thread.
  virtual Status Shutdown() = 0;

  // Of the job clock, as this worker counts it. Under models that skip ahead it may be several higher after a
  // Clock and after the Syncs that follow it, until the first Update.
  [[nodiscard]] virtual Iteration iteration() const = 0;
  // The job had begun when this worker joined, or goes on from a checkpoint: the servers' values count, and
  // not those that this worker begins with. The same on all ranks that begin together, which `iteration` is
  // not.
  [[nodiscard]] virtual bool goes_on() const = 0;
  [[nodiscard]] virtual WorkerCounters counters() const = 0;
  // A named figure of the user's own (time per phase, samples, ...), reported to the scheduler with the next
  // beat. It counts up from 0 in each life: what a life before had counted is added to it, and the job's is
  // the sum over workers.
  virtual void SetFigure(const std::string& name, double value) = 0;
  // What a blocking call would wait for now, in words; empty when nothing.
  [[nodiscard]] virtual std::string WaitingFor() const = 0;
};

}  // namespace leeway
