// The life of a worker: joining, tables and what lies in them, leaving, the end. worker_calls.cc has the
// calls of every iteration.
#include "process/worker_client.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/heap_arena.h"
#include "leeway/arena.h"
#include "node/link_options.h"
#include "process/address_source.h"
#include "process/plugin_library.h"
#include "process/secret_file.h"

namespace leeway {
namespace {

// How long the destructor waits for the node to say goodbye and to make the pending callbacks.
constexpr std::chrono::milliseconds kGoodbyeLimit{2'000};
// How long a note to a node that may not answer waits for room.
constexpr std::chrono::milliseconds kQuestionLimit{1'000};
// How long a joined worker waits for its own thread, which is as good as no limit.
constexpr std::chrono::minutes kJoinedLimit{1};

// The longest wait_max, as good as no limit. A longer one is a mistake in a unit, and a time point plus it
// might overflow.
constexpr std::chrono::hours kWaitMaxLimit{30 * 24};
// The limit without a wait_max. Links give up a lost peer far earlier.
constexpr std::chrono::minutes kWaitMaxDefault{10};

std::chrono::milliseconds AnswerMax(const WorkerOptions& options) {
  if (!options.wait_max) return kWaitMaxDefault;
  return options.wait_max->count() == 0 ? kWaitMaxLimit : *options.wait_max;
}

WorkerOptions WithIdentity(WorkerOptions options) {
  if (options.host.empty()) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) options.host = name.data();
  }
  if (options.pid == 0) options.pid = static_cast<std::uint64_t>(getpid());
  return options;
}

Status CheckOptions(const WorkerOptions& options) {
  LW_RETURN_IF_ERROR(CheckLinkOptions(options.link));
  if (!options.scheduler.empty())
    LW_RETURN_IF_ERROR(CheckAddress(options.scheduler).WithContext("scheduler"));
  if (options.queue_max == 0) return InvalidArgument("queue_max is 0, wanted at least 1");
  if (options.rank < -1 || options.rank >= std::numeric_limits<std::uint32_t>::max()) {
    return InvalidArgument("rank {}, wanted 0 or more, or -1 for any", options.rank);
  }
  if (options.wait_max && (options.wait_max->count() < 0 || *options.wait_max > kWaitMaxLimit)) {
    return InvalidArgument("wait_max {} ms, wanted at most {} (30 days), or 0 for no limit",
                           options.wait_max->count(), std::chrono::milliseconds(kWaitMaxLimit).count());
  }
  return Status::Ok();
}

// Starts a job for this worker alone and sets its address in `options`.
Result<std::unique_ptr<OwnJob>> StartOwnJob(WorkerOptions& options, const Policies& policies) {
  if (options.rank > 0) {
    return InvalidArgument(
        "rank {} without a scheduler: wanted the scheduler of the job (\"host:port\", \"local:<name>\", or "
        "\"file:<path>\" of a file that holds one of them), or no rank for a job of this process alone",
        options.rank);
  }
  auto own = std::make_unique<OwnJob>();
  JobOptions job;
  job.job = options.job;
  LW_ASSIGN_OR_RETURN(own->job, LocalJob::Start(job, own->log, options.link.transport, policies));
  options.scheduler = own->job->scheduler();
  options.link.secret = own->job->secret();
  return own;
}

// Without a pin: a copy, because the wait may be broken off while the node still sends. `what` is for the
// error that memory is short.
Status PinOrCopy(Arena& arena, const std::string& table, const char* what, std::span<const float>& values,
                 std::shared_ptr<const void>& pin) {
  if (pin != nullptr) return Status::Ok();
  std::shared_ptr<std::byte> copy = arena.Allocate(values.size_bytes(), Arena::Use::kSent);
  if (copy == nullptr) {
    return ResourceExhausted("table \"{}\": no memory for a copy of its {}, {} bytes", table, what,
                             values.size_bytes());
  }
  auto* const floats = reinterpret_cast<float*>(copy.get());
  std::ranges::copy(values, floats);
  values = {floats, values.size()};
  pin = std::move(copy);
  return Status::Ok();
}

// The node's counters with its account of overlap.
WorkerCounters CountersOf(const WorkerNode& node, TimePoint now) {
  WorkerCounters counters = node.counters();
  const OverlapTimes overlap = node.overlap().Total(now);
  counters.communication_ns = static_cast<std::uint64_t>(overlap.communication.count());
  counters.communication_waited_ns = static_cast<std::uint64_t>(overlap.waited().count());
  return counters;
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::Initialize(const WorkerOptions& options) {
  return InitializeWorker(options, {});
}

Result<std::unique_ptr<Worker>> InitializeWorker(const WorkerOptions& given,
                                                 std::function<bool()> interrupted) {
  LW_RETURN_IF_ERROR(CheckOptions(given));
  WorkerOptions options = given;
  LW_ASSIGN_OR_RETURN(Policies policies, PoliciesWith(given.plugins));
  std::unique_ptr<OwnJob> own_job;
  if (given.scheduler.empty()) {
    LW_ASSIGN_OR_RETURN(own_job, StartOwnJob(options, policies));
  } else {
    LW_ASSIGN_OR_RETURN(
        options.link.secret,
        TakeSecret({given.link.secret, given.secret_file, given.insecure}, SecretTaker::kScript));
  }
  auto client = std::make_unique<WorkerClient>(options, std::move(policies), std::move(interrupted),
                                               std::move(own_job));
  LW_RETURN_IF_ERROR(client->Join());
  return std::unique_ptr<Worker>(std::move(client));
}

WorkerClient::WorkerClient(const WorkerOptions& options, Policies policies, std::function<bool()> interrupted,
                           std::unique_ptr<OwnJob> own_job)
    : own_job_(std::move(own_job)),
      options_(WithIdentity(options)),
      policies_(std::move(policies)),
      log_(options.rank >= 0 ? fmt::format("worker {}", options.rank) : "worker", LogLevel::kWarning),
      calls_(std::make_unique<NodeCalls>(
          NodeCalls::Limits{options.queue_max, AnswerMax(options), options.stall_warn},
          std::move(interrupted), log_)) {
  if (!options_.record) return;
  record_ = std::make_unique<ComputeRecord>();
  waits_.Tell(*record_);
}

Status WorkerClient::OpenTrace() {
  const TraceFile::Names names{fmt::format("worker {}", std::max<std::int64_t>(options_.rank, 0)),
                               static_cast<std::uint32_t>(std::max<std::int64_t>(options_.rank, 0)),
                               {{Trace::kUserTrack, "user's thread"},
                                {Trace::kModulesTrack, "modules"},
                                {Trace::kNodeTrack, "I/O thread"}}};
  LW_ASSIGN_OR_RETURN(trace_, TraceFile::Open(options_.trace, names, log_));
  if (trace_ == nullptr) return Status::Ok();
  step_trace_ = std::make_unique<StepTrace>(*trace_);
  waits_.Tell(*step_trace_);
  return Status::Ok();
}

WorkerClient::~WorkerClient() {
  if (life_.forked()) {
    // In a forked child the node's thread is in the parent, and its memory may be in any state. Leaks both on
    // purpose.
    (void)calls_.release();
    (void)own_job_.release();
    return;
  }
  if (!calls_->running()) return;
  Status why = calls_->gave_up();
  if (why.ok()) why = Cancelled("its program ended without shutdown()");
  if (calls_->Ask([why](WorkerNode& node) { node.Abandon(why); }, kGoodbyeLimit)) {
    life_.WaitUntilFailed(kGoodbyeLimit);
  }
  StopThread(why);
}

Status WorkerClient::Join() {
  LW_ASSIGN_OR_RETURN(const Carrier carrier, ParseCarrier(options_.link.transport));
  LW_RETURN_IF_ERROR(OpenTrace());
  calls_->Start(carrier, [this](Env& env) {
    env.trace = trace_.get();
    return MakeWorker(options_, env, policies_, MakeAddressSource(options_.scheduler), *this);
  });
  LW_RETURN_IF_ERROR(calls_->CallAndWait(
      [](WorkerNode& node, leeway::Done done) { node.Join(std::move(done)); }, "joining the job"));
  calls_->Ask(
      [this](WorkerNode& node) {
        joined_ = {node.rank(), node.job(), node.goes_on(), node.restored_state()};
        iteration_ = node.iteration().value();
      },
      kJoinedLimit);
  calls_->SetJoined();
  log_.SetWho(fmt::format("worker {}", joined_.rank.value()));
  return Status::Ok();
}

std::shared_ptr<float> WorkerClient::Allocate(std::size_t elements) {
  // After its end, and in a forked child, the worker sends nothing: any memory will do.
  HeapArena heap;
  Arena& arena = life_.HasNode() ? calls_->env().arena : heap;
  std::shared_ptr<std::byte> bytes = arena.Allocate(elements * sizeof(float), Arena::Use::kSent);
  if (bytes == nullptr) return nullptr;
  auto* const floats = reinterpret_cast<float*>(bytes.get());
  std::fill_n(floats, elements, 0.0F);
  return {std::move(bytes), floats};
}

Result<TableId> WorkerClient::CreateTable(const TableSpec& spec, TableBuffers buffers) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  LW_ASSIGN_OR_RETURN(ParameterPair * pair, tables_.MakeBuffers(spec, buffers));
  auto id = std::make_shared<TableId>();  // shared: the call may outlive a wait that ran into its limit
  LW_RETURN_IF_ERROR(calls_->CallAndWait(
      [spec, pair, id](WorkerNode& node, const leeway::Done& done) {
        Result<TableId> created = node.CreateTable(spec, *pair);
        if (created.ok()) *id = *created;
        done(created.status());
      },
      "creating a table"));
  LW_RETURN_IF_ERROR(tables_.Add(*id, spec, *pair));
  return *id;
}

Status WorkerClient::Start() {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  const Status status = calls_->CallAndWait(
      [](WorkerNode& node, leeway::Done done) { node.Start(std::move(done)); }, "agreeing on tables");
  tables_.OnStarted(status);
  return status;
}

Status WorkerClient::Broadcast(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  LW_ASSIGN_OR_RETURN(const ClientTable* table, tables_.FindStarted(id));
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got {} initial values, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  LW_RETURN_IF_ERROR(PinOrCopy(calls_->env().arena, table->spec.name, "initial values", values, pin));
  // The node holds the only pin, so that the pin is gone when the call returns.
  return calls_->CallAndWait(
      [id, values, pin = std::move(pin)](WorkerNode& node, leeway::Done done) mutable {
        node.Broadcast(id, values, std::move(pin), std::move(done));
      },
      fmt::format("giving table \"{}\" its values", table->spec.name));
}

Status WorkerClient::Assign(TableId id, std::span<const float> values, std::shared_ptr<const void> pin) {
  return AssignArray(id, {}, values, std::move(pin));
}

Status WorkerClient::AssignArray(TableId id, AssignedArray array, std::span<const float> values,
                                 std::shared_ptr<const void> pin) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  LW_ASSIGN_OR_RETURN(const ClientTable* table, tables_.FindStarted(id));
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got {} values to set, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  LW_RETURN_IF_ERROR(PinOrCopy(calls_->env().arena, table->spec.name, "new values", values, pin));
  // The node holds the only pin, so that the pin is gone when the call returns.
  return calls_->CallAndWait(
      [id, array, values, pin = std::move(pin)](WorkerNode& node, leeway::Done done) mutable {
        node.Assign(id, array, {values, std::move(pin), {}, 1}, std::move(done));
      },
      fmt::format("setting table \"{}\"", table->spec.name));
}

Result<TableState> WorkerClient::ReadArrays(TableId id, ArraysWanted wanted) {
  LW_RETURN_IF_ERROR(life_.CheckAlive());
  LW_ASSIGN_OR_RETURN(const ClientTable* table, tables_.FindStarted(id));
  auto got = std::make_shared<TableState>();  // shared: the call may outlive a wait that is broken off
  LW_RETURN_IF_ERROR(calls_->CallAndWait(
      [id, wanted, got](WorkerNode& node, const leeway::Done& done) {
        node.ReadArrays(id, wanted, [got, done](const Status& status, TableState state) {
          *got = std::move(state);
          done(status);
        });
      },
      fmt::format("reading table \"{}\"", table->spec.name)));
  return std::move(*got);
}

Result<std::vector<float>> WorkerClient::ReadValues(TableId id, bool even_if_known) {
  LW_ASSIGN_OR_RETURN(TableState got,
                      ReadArrays(id, even_if_known ? ArraysWanted::kValues : ArraysWanted::kNewerValues));
  if (got.arrays.empty()) return std::vector<float>();
  return std::move(got.arrays.front());
}

Status WorkerClient::WriteState(TableId id, const TableState& state) {
  if (state.arrays.size() > kOptimizerSlotsMax) {
    return InvalidArgument("table {}: got a state of {} arrays, wanted at most {}", id.value(),
                           state.arrays.size(), kOptimizerSlotsMax);
  }
  for (std::size_t i = 0; i < state.arrays.size(); ++i) {
    const AssignedArray array{static_cast<std::uint8_t>(i + 1), state.steps};
    LW_RETURN_IF_ERROR(AssignArray(id, array, state.arrays[i], nullptr));
  }
  return Status::Ok();
}

Status WorkerClient::MayMeet(const std::string& what) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  return calls_->CallAndWait([what](WorkerNode& node, const leeway::Done& done) { done(node.MayMeet(what)); },
                             what);
}

Status WorkerClient::Barrier(const std::string& name) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  const WaitTimes::Scope timed(waits_, WaitCause::kBarriers, name);
  return calls_->CallAndWait(
      [name](WorkerNode& node, leeway::Done done) { node.Barrier(name, std::move(done)); },
      fmt::format("barrier \"{}\"", name));
}

Result<BatchLease> WorkerClient::LeaseBatches(const std::string& pool, std::uint64_t batches,
                                              std::uint32_t wanted, std::span<const Iteration> used) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  const WaitTimes::Scope timed(waits_, WaitCause::kBatches, pool);
  // Shared: the call may outlive a wait that is broken off. Then no thread works on its batches, so the
  // client keeps them for the next call. Only the node's thread reads it until the wait is over.
  struct Question {
    BatchLease lease;
    bool broken_off = false;
  };
  auto call = std::make_shared<Question>();
  const Status status = calls_->CallAndWait(
      [=, this, used = std::vector(used.begin(), used.end())](WorkerNode& node, const leeway::Done& done) {
        if (auto kept = kept_leases_.extract(pool); !kept.empty()) {
          call->lease = std::move(kept.mapped());
          return done(Status::Ok());
        }
        node.LeaseBatches(pool, batches, wanted, used,
                          [=, this](const Status& answered, const BatchLease& got) {
                            call->lease = got;
                            if (call->broken_off && !got.batches.empty()) kept_leases_[pool] = got;
                            done(answered);
                          });
      },
      fmt::format("batches of pool \"{}\"", pool));
  if (status.ok()) return std::move(call->lease);
  (void)calls_->Tell(
      [this, pool, call](WorkerNode&) {
        call->broken_off = true;
        if (!call->lease.batches.empty()) kept_leases_[pool] = call->lease;
      },
      kQuestionLimit);
  return status;
}

Status WorkerClient::GiveState(std::vector<std::byte> state) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  if (state.size() > kRankStateBytesMax) {
    return InvalidArgument("a state of {} bytes, wanted at most {}", state.size(), kRankStateBytesMax);
  }
  // Clears the question, so that the state is not given twice. A newer question stays, unless this state
  // answers it.
  std::int64_t from = state_wanted_from_;
  if (iteration().value() < from) return Status::Ok();
  state_wanted_from_.compare_exchange_strong(from, kIterationMax.value());
  auto shared = std::make_shared<const std::vector<std::byte>>(std::move(state));
  return calls_->Tell([shared = std::move(shared)](WorkerNode& node) { node.GiveState(shared); });
}

Status WorkerClient::Leave() {
  LW_RETURN_IF_ERROR(life_.CheckAlive());
  if (life_.left()) return Status::Ok();
  life_.SetLeft(joined_.rank);
  if (record_ != nullptr) ReportRecord();
  return calls_->CallAndWait([](WorkerNode& node, leeway::Done done) { node.Leave(std::move(done)); },
                             "leaving the job");
}

Status WorkerClient::Finish() {
  LW_RETURN_IF_ERROR(life_.CheckAlive());
  if (finished_) return Status::Ok();
  {
    const WaitTimes::Scope timed(waits_, WaitCause::kEnd, "end of the job");
    LW_RETURN_IF_ERROR(Leave());
    LW_RETURN_IF_ERROR(
        calls_->CallAndWait([](WorkerNode& node, leeway::Done done) { node.Finish(std::move(done)); },
                            "the other workers to leave, and the final values"));
  }
  waits_.ForEachFigure([this](const char* name, double s) { SetFigure(name, s); });
  finished_ = true;
  tables_.OnFinalValues();
  return Status::Ok();
}

Status WorkerClient::Shutdown() {
  LW_RETURN_IF_ERROR(life_.CheckFork());
  if (!life_.HasNode()) return Status::Ok();
  Status status = Finish();
  const Status said = calls_->CallAndWait(
      [](WorkerNode& node, leeway::Done done) { node.Shutdown(std::move(done)); }, "saying goodbye");
  if (status.ok()) status = said;
  StopThread(FailedPrecondition("the worker was shut down"));
  return status;
}

void WorkerClient::StopThread(const Status& why) {
  calls_->Ask([this](WorkerNode& node) { final_counters_ = CountersOf(node, calls_->env().clock.Now()); });
  life_.SetStopped();
  calls_->Stop(why);
}

WorkerCounters WorkerClient::counters() const {
  auto counters =
      std::make_shared<WorkerCounters>(final_counters_);  // shared: the question may outlive this call
  if (life_.HasNode()) {
    calls_->Ask(
        [this, counters](WorkerNode& node) { *counters = CountersOf(node, calls_->env().clock.Now()); });
  }
  counters->wait_ns = waits_.total_ns();
  return *counters;
}

void WorkerClient::SetFigure(const std::string& name, double value) {
  if (!life_.CheckAlive().ok()) return;
  // A figure that finds the queue full is lost; the next one brings a newer value.
  (void)calls_->Tell([name, value](WorkerNode& node) { node.SetFigure(name, value); },
                     std::chrono::milliseconds(0));
}

}  // namespace leeway
