// The worker's calls of every iteration, and the way of a call to the node and back.
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/errors.h"
#include "process/worker_client.h"

namespace leeway {
namespace {

// Longer than any wait.
constexpr std::chrono::hours kForever{100 * 24};
// The longest time for peers to explain a wait; the node gives each of them less.
constexpr std::chrono::seconds kExplainLimit{5};

}  // namespace

Status WorkerClient::CheckFork() const {
  if (!fork_.forked()) return Status::Ok();
  return FailedPrecondition(
      "this worker belongs to process {}, its parent: a forked child (process {}) cannot use it", fork_.pid(),
      getpid());
}

Status WorkerClient::CheckAlive() const {
  LW_RETURN_IF_ERROR(CheckFork());
  if (failed_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(failure_mutex_);
    return failure_;
  }
  if (stopped_) return FailedPrecondition("the worker was shut down");
  return Status::Ok();
}

Status WorkerClient::CheckMember() const {
  LW_RETURN_IF_ERROR(CheckAlive());
  if (left_) return FailedPrecondition("worker {} has left the job: it may only pull now", rank_.value());
  return Status::Ok();
}

Result<WorkerClient::Table*> WorkerClient::FindStarted(TableId id) {
  if (id.index() >= tables_.size())
    return NotFound("no table {}; {} were created", id.value(), tables_.size());
  Table* table = tables_[id.index()].get();
  if (table->started) return table;
  if (!table->refusal.ok()) {
    return FailedPrecondition("table \"{}\" was refused: {}", table->spec.name, table->refusal.message());
  }
  return FailedPrecondition("table \"{}\" is not started; call Start first", table->spec.name);
}

Result<Ticket> WorkerClient::Queue(Call&& call, int parts) {
  const Ticket ticket = call.ticket = tickets_.New(parts);
  const Status queued = calls_.Push(std::move(call), answer_max_);
  if (queued.ok()) return ticket;
  tickets_.Forget(ticket);
  for (int i = 0; i < parts; ++i) tickets_.Finish(ticket, queued);
  return queued;
}

Result<Ticket> WorkerClient::Begin(std::function<void(WorkerNode&, leeway::Done)> call) {
  Call queued;
  queued.function = [this, call = std::move(call)](leeway::Done done) { call(*node_, std::move(done)); };
  return Queue(std::move(queued));
}

leeway::Done WorkerClient::DoneOf(const Call& call) {
  auto finish = [this, ticket = call.ticket](const Status& outcome) { tickets_.Finish(ticket, outcome); };
  if (!call.also) return finish;
  return [finish, also = call.also](const Status& outcome) {
    also(outcome);
    finish(outcome);
  };
}

void WorkerClient::Make(Call& call) {
  const auto end_if = [](const Status& status, const leeway::Done& done) {
    if (!status.ok()) done(status);
  };
  switch (call.kind) {
    case Call::Kind::kFunction:
      return call.function(DoneOf(call));
    case Call::Kind::kClock:
      return MakeClock(call.group);
    case Call::Kind::kPush: {
      const leeway::Done done = DoneOf(call);
      return end_if(node_->Push(call.table, std::move(call.gradient), done), done);
    }
    case Call::Kind::kPull: {
      const leeway::Done done = DoneOf(call);
      return end_if(node_->Pull(call.table, call.values, done), done);
    }
    case Call::Kind::kPushPull:
      return MakePushPull(call);
  }
}

void WorkerClient::MakePushPull(Call& call) {
  leeway::Done part = DoneOf(call);
  if (call.also) {
    // The user hears of both parts together.
    struct Both {
      int left = 2;
      Status first_error;
    };
    part = [both = std::make_shared<Both>(), also = std::move(call.also), ticket = call.ticket,
            this](const Status& outcome) {  // shared: by the two parts
      if (both->first_error.ok()) both->first_error = outcome;
      if (--both->left == 0) also(both->first_error);
      tickets_.Finish(ticket, outcome);
    };
  }
  const Status pushing = node_->Push(call.table, std::move(call.gradient), part);
  if (!pushing.ok()) {
    part(pushing);
    return part(pushing);
  }
  const Status pulling = node_->Pull(call.table, call.values, part);
  if (!pulling.ok()) part(pulling);
}

void WorkerClient::MakeClock(std::optional<std::uint32_t> group) {
  waits_.ForEachFigure([this](const char* name, double s) { node_->SetFigure(name, s); });
  // An error means that the worker has failed meanwhile: the next call reports it.
  (void)node_->Clock(group);
  // The node's count includes iterations that it skipped while this call was queued; ours does not yet.
  OnIteration(node_->iteration());
}

void WorkerClient::ReportRecord() {
  // The next report makes up for one that is not taken.
  (void)calls_.Push(Call::Of([this, figures = record_->Figures()] {
                      for (const auto& [name, value] : figures) node_->SetFigure(name, value);
                    }),
                    answer_max_);
}

Status WorkerClient::CallAndWait(std::function<void(WorkerNode&, leeway::Done)> call, const What& what) {
  LW_ASSIGN_OR_RETURN(const Ticket ticket, Begin(std::move(call)));
  return WaitFor(ticket, what, /*forget=*/true);
}

Status WorkerClient::WaitFor(Ticket ticket, const What& what, bool forget) {
  const auto warn = [&] {
    // The node's thread reports the cause when it has found it: this thread continues as soon as it may.
    auto tell = [this, what = what()](const std::string& why, bool) {
      log_.Write(LogLevel::kWarning,
                 fmt::format("{}: has waited {:.1f} s for {}", what,
                             std::chrono::duration<double>(options_.stall_warn).count(), why));
    };
    const auto no_wait = std::chrono::milliseconds(0);
    const Status asked = calls_.Push(Call::Of([this, tell] { node_->ExplainWait(tell); }), no_wait);
    if (!asked.ok()) tell(asked.message(), false);
  };
  bool interrupted = false;
  std::function<bool()> stop;
  if (interrupted_) stop = [&] { return interrupted = interrupted_(); };
  const UserWait in_wait(*this, ticket);
  TicketBook::Limits limits{options_.stall_warn, answer_max_};
  std::optional<Status> outcome;
  do {
    outcome = tickets_.Wait(ticket, limits, warn, stop);
    limits.warn_after = kForever;  // once is enough: the scheduler goes on to name the awaited member
  } while (!outcome && !interrupted && WaitsForMembers());
  if (!outcome && !interrupted) outcome = tickets_.Done(ticket) ? tickets_.Take(ticket) : std::nullopt;
  if (outcome) return *std::move(outcome);
  if (forget) tickets_.Forget(ticket);
  if (interrupted) return Cancelled("{}: interrupted", what());
  Status gave_up = DeadlineExceeded("{}: gave up after {:.1f} s (wait_max); still waiting for {}", what(),
                                    std::chrono::duration<double>(answer_max_).count(), WaitingFor());
  const std::lock_guard lock(failure_mutex_);
  gave_up_ = gave_up;
  return gave_up;
}

bool WorkerClient::WaitsForMembers() {
  const auto members = std::make_shared<std::atomic<bool>>(false);  // shared: the answer may come too late
  const Result<Ticket> asked = Begin([members](WorkerNode& node, const leeway::Done& done) {
    node.ExplainWait([members, done](const std::string&, bool for_members) {
      *members = for_members;
      done(Status::Ok());
    });
  });
  if (!asked.ok()) return false;
  if (!tickets_.Wait(*asked, {kForever, kExplainLimit}, [] {})) tickets_.Forget(*asked);
  return *members;
}

WorkerClient::UserWait::UserWait(WorkerClient& client, Ticket ticket) : client_(client) {
  client_.user_waits_.Enter(ticket, /*trains=*/client_.rank_ != kNoWorker);
}

WorkerClient::UserWait::~UserWait() { client_.user_waits_.Leave(); }

Status WorkerClient::CheckLoan(const Table& table, std::span<const float> gradient, const PushOptions& how) {
  if (gradient.size() != table.elements) {
    return InvalidArgument("table \"{}\": got a gradient of {} values, wanted {}", table.spec.name,
                           gradient.size(), table.elements);
  }
  if (how.samples == 0)
    return InvalidArgument("table \"{}\": a gradient of 0 samples, wanted at least 1", table.spec.name);
  return Status::Ok();
}

Status WorkerClient::CheckRoom(const Table& table, std::span<const float> values) {
  if (values.size() == table.elements) return Status::Ok();
  return InvalidArgument("table \"{}\": got room for {} values, wanted {}", table.spec.name, values.size(),
                         table.elements);
}

Call WorkerClient::Lending(Call::Kind kind, TableId id, std::span<const float> gradient, PushOptions&& how) {
  Call call;
  call.kind = kind;
  call.table = id;
  call.gradient = {gradient, std::move(how.pin), how.hyper, how.samples};
  call.also = std::move(how.done);
  return call;
}

Result<WorkerClient::Table*> WorkerClient::CheckPush(TableId id, std::span<const float> gradient,
                                                     const PushOptions& how) {
  LW_ASSIGN_OR_RETURN(Table * table, FindStarted(id));
  if (!table->own_clock() && table->pushed == clocks_) {
    return FailedPrecondition("table \"{}\" was pushed in iteration {} already; call Clock first",
                              table->spec.name, iteration().value());
  }
  LW_RETURN_IF_ERROR(CheckLoan(*table, gradient, how));
  return table;
}

Result<Ticket> WorkerClient::Push(TableId id, std::span<const float> gradient, PushOptions how) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(Table * table, CheckPush(id, gradient, how));
  if (record_ != nullptr && !table->own_clock()) record_->NoteReady(id);
  LW_ASSIGN_OR_RETURN(const Ticket ticket, Queue(Lending(Call::Kind::kPush, id, gradient, std::move(how))));
  table->pushed = clocks_;
  return ticket;
}

void WorkerClient::OnIteration(Iteration now) {
  std::int64_t known = iteration_.load(std::memory_order_relaxed);
  while (known < now.value() && !iteration_.compare_exchange_weak(known, now.value())) {
  }
}

Status WorkerClient::End(std::optional<std::uint32_t> group) {
  LW_RETURN_IF_ERROR(CheckMember());
  // Raised before the node hears of it, because the node may then raise it further.
  iteration_.fetch_add(1, std::memory_order_relaxed);
  Call call;
  call.kind = Call::Kind::kClock;
  call.group = group;
  Status queued = calls_.Push(std::move(call), answer_max_);
  if (!queued.ok()) {
    iteration_.fetch_sub(1, std::memory_order_relaxed);
    return queued;
  }
  ++clocks_;
  if (record_ != nullptr) {
    record_->Clock();
    if (record_->IsDue()) ReportRecord();
  }
  return Status::Ok();
}

Result<std::span<const float>> WorkerClient::Sync(TableId id) {
  LW_RETURN_IF_ERROR(CheckFork());
  LW_ASSIGN_OR_RETURN(Table * table, FindStarted(id));
  if (table->synced == clocks_) return table->pair->Front();
  // Final values stay readable after the shutdown, so the worker must be alive only if this call has to wait.
  const Iteration needed = iteration() - 1;
  const bool asks = gated_.load(std::memory_order_acquire) && !left_;
  if (asks || table->pair->ready() < needed || !table->pair->Take()) {
    const WaitTimes::Scope timed(waits_, WaitCause::kValues);
    const What what = [table, now = iteration()] {
      return fmt::format("using table \"{}\" in iteration {}", table->spec.name, now.value());
    };
    do {
      LW_RETURN_IF_ERROR(CheckAlive());
      LW_RETURN_IF_ERROR(
          CallAndWait([id](WorkerNode& node, leeway::Done done) { node.Sync(id, std::move(done)); }, what));
    } while (!table->pair->Take());
  } else if (failed_.load(std::memory_order_acquire)) {
    return CheckAlive();
  }
  table->synced = clocks_;
  return table->pair->Front();
}

bool WorkerClient::Ready(TableId id) const {
  if (id.index() >= tables_.size()) return false;
  return tables_[id.index()]->pair->ready() >= iteration() - 1;
}

Result<Ticket> WorkerClient::Pull(TableId id, std::span<float> values,
                                  std::function<void(const Status&)> done) {
  LW_RETURN_IF_ERROR(CheckAlive());
  LW_ASSIGN_OR_RETURN(const Table* table, FindStarted(id));
  if (!table->own_clock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: use Sync, not Pull", table->spec.name);
  }
  LW_RETURN_IF_ERROR(CheckRoom(*table, values));
  Call call;
  call.kind = Call::Kind::kPull;
  call.table = id;
  call.values = values;
  call.also = std::move(done);
  return Queue(std::move(call));
}

Result<Ticket> WorkerClient::PushPull(TableId id, std::span<const float> gradient, std::span<float> values,
                                      PushOptions how) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(const Table* table, FindStarted(id));
  if (!table->own_clock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: use Push and Sync, not PushPull",
                              table->spec.name);
  }
  LW_RETURN_IF_ERROR(CheckLoan(*table, gradient, how));
  LW_RETURN_IF_ERROR(CheckRoom(*table, values));
  Call call = Lending(Call::Kind::kPushPull, id, gradient, std::move(how));
  call.values = values;
  return Queue(std::move(call), 2);
}

Status WorkerClient::Wait(Ticket ticket) {
  LW_RETURN_IF_ERROR(CheckFork());
  // An outcome that is there needs no clock and no words.
  if (std::optional<Status> outcome = tickets_.Take(ticket)) return *std::move(outcome);
  const WaitTimes::Scope timed(waits_, WaitCause::kTickets);
  return WaitFor(
      ticket, [ticket] { return fmt::format("the outcome of ticket {}", ticket); }, /*forget=*/false);
}

bool WorkerClient::Done(Ticket ticket) const { return !CheckFork().ok() || tickets_.Done(ticket); }

}  // namespace leeway
