// What a worker's user calls in every iteration, and how a call reaches the node and comes back.
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/errors.h"
#include "process/worker_client.h"

namespace leeway {
Status WorkerClient::CheckFork() const {
  const pid_t now = getpid();
  if (now == pid_) return Status::Ok();
  return FailedPrecondition(
      "this worker belongs to process {}, its parent: a forked child (process {}) cannot use it", pid_, now);
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

Result<Ticket> WorkerClient::Begin(std::function<void(WorkerNode&, leeway::Done)> call, leeway::Done also) {
  const Ticket ticket = tickets_.New();
  auto done = [this, ticket, also = std::move(also)](const Status& outcome) {
    if (also) also(outcome);
    tickets_.Finish(ticket, outcome);
  };
  const Status queued = calls_.Push(
      [this, call = std::move(call), done = std::move(done)] { call(*node_, done); }, options_.wait_max);
  if (queued.ok()) return ticket;
  tickets_.Forget(ticket);
  tickets_.Finish(ticket, queued);
  return queued;
}

Status WorkerClient::Block(std::function<void(WorkerNode&, leeway::Done)> call, const std::string& what) {
  LW_ASSIGN_OR_RETURN(const Ticket ticket, Begin(std::move(call)));
  return WaitFor(ticket, what, /*forget=*/true);
}

Status WorkerClient::WaitFor(Ticket ticket, const std::string& what, bool forget) {
  const auto warn = [&] {
    // Told by the node's thread when it has found out: this one goes on as soon as it may.
    auto tell = [this, what](const std::string& why) {
      log_.Write(LogLevel::kWarning,
                 fmt::format("{}: has waited {:.1f} s for {}", what,
                             std::chrono::duration<double>(options_.stall_warn).count(), why));
    };
    const auto no_wait = std::chrono::milliseconds(0);
    const Status asked = calls_.Push([this, tell] { node_->ExplainWait(tell); }, no_wait);
    if (!asked.ok()) tell(asked.message());
  };
  bool interrupted = false;
  std::function<bool()> stop;
  if (interrupted_) stop = [&] { return interrupted = interrupted_(); };
  std::optional<Status> outcome = tickets_.Wait(ticket, {options_.stall_warn, options_.wait_max}, warn, stop);
  if (outcome) return *std::move(outcome);
  if (forget) tickets_.Forget(ticket);
  if (interrupted) return Cancelled("{}: interrupted", what);
  return DeadlineExceeded("{}: gave up after {:.1f} s (wait_max); still waiting for {}", what,
                          std::chrono::duration<double>(options_.wait_max).count(), WaitingFor());
}

Result<Ticket> WorkerClient::Lend(Table& table, TableId id, std::span<const float> gradient,
                                  UpdateOptions how) {
  if (gradient.size() != table.elements) {
    return InvalidArgument("table \"{}\": got a gradient of {} values, wanted {}", table.spec.name,
                           gradient.size(), table.elements);
  }
  if (how.samples == 0)
    return InvalidArgument("table \"{}\": a gradient of 0 samples, wanted at least 1", table.spec.name);
  LentGradient lent{gradient, std::move(how.pin), how.hyper, how.samples};
  const bool own = table.own_clock();
  return Begin(
      [id, own, lent = std::move(lent)](WorkerNode& node, leeway::Done done) mutable {
        const Status lending =
            own ? node.PushOwn(id, std::move(lent), done) : node.GradientReady(id, std::move(lent), done);
        if (!lending.ok()) done(lending);
      },
      std::move(how.done));
}

Result<Ticket> WorkerClient::Update(TableId id, std::span<const float> gradient, UpdateOptions how) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(Table * table, FindStarted(id));
  if (table->own_clock()) {
    return FailedPrecondition("table \"{}\" has a clock of its own: use Push, not Update", table->spec.name);
  }
  if (table->updated == clocks_) {
    return FailedPrecondition("table \"{}\" was updated in iteration {} already; call Clock first",
                              table->spec.name, iteration().value());
  }
  LW_ASSIGN_OR_RETURN(const Ticket ticket, Lend(*table, id, gradient, std::move(how)));
  table->updated = clocks_;
  return ticket;
}

void WorkerClient::OnIteration(Iteration now) {
  std::int64_t known = iteration_.load(std::memory_order_relaxed);
  while (known < now.value() && !iteration_.compare_exchange_weak(known, now.value())) {
  }
}

Status WorkerClient::Clock() {
  LW_RETURN_IF_ERROR(CheckMember());
  // Before the node hears of it, which may then say a later one.
  iteration_.fetch_add(1, std::memory_order_relaxed);
  const Status queued = calls_.Push(
      [this] {
        waits_.ForEachFigure([this](const char* name, double s) { node_->SetFigure(name, s); });
        // An error means that the worker has failed meanwhile: the next call says why.
        (void)node_->EndIteration();
        // What the node left out while this call was queued is in its count and not in ours.
        OnIteration(node_->iteration());
      },
      options_.wait_max);
  if (!queued.ok()) {
    iteration_.fetch_sub(1, std::memory_order_relaxed);
    return queued;
  }
  ++clocks_;
  return Status::Ok();
}

Result<std::span<const float>> WorkerClient::Sync(TableId id) {
  LW_RETURN_IF_ERROR(CheckFork());
  LW_ASSIGN_OR_RETURN(Table * table, FindStarted(id));
  if (table->synced == clocks_) return table->pair->Front();
  // Final values stay readable after the shutdown, so whether the worker lives matters only if there is a
  // need to wait.
  const Iteration needed = iteration() - 1;
  const bool asks = gated_.load(std::memory_order_acquire) && !left_;
  if (asks || table->pair->ready() < needed || !table->pair->Take()) {
    const WaitTimes::Scope timed(waits_, WaitCause::kValues);
    const std::string what =
        fmt::format("using table \"{}\" in iteration {}", table->spec.name, iteration().value());
    do {
      LW_RETURN_IF_ERROR(CheckAlive());
      LW_RETURN_IF_ERROR(
          Block([id](WorkerNode& node, leeway::Done done) { node.WhenUsable(id, std::move(done)); }, what));
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

Result<Ticket> WorkerClient::Push(TableId id, std::span<const float> gradient, UpdateOptions how) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(Table * table, FindStarted(id));
  if (!table->own_clock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: use Update, not Push", table->spec.name);
  }
  return Lend(*table, id, gradient, std::move(how));
}

Result<Ticket> WorkerClient::Pull(TableId id, std::span<float> values,
                                  std::function<void(const Status&)> done) {
  LW_RETURN_IF_ERROR(CheckAlive());
  LW_ASSIGN_OR_RETURN(const Table* table, FindStarted(id));
  if (!table->own_clock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: use Sync, not Pull", table->spec.name);
  }
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got room for {} values, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  return Begin(
      [id, values](WorkerNode& node, const leeway::Done& pulled) {
        const Status pulling = node.PullInto(id, values, pulled);
        if (!pulling.ok()) pulled(pulling);
      },
      std::move(done));
}

Status WorkerClient::Wait(Ticket ticket) {
  LW_RETURN_IF_ERROR(CheckFork());
  const WaitTimes::Scope timed(waits_, WaitCause::kTickets);
  return WaitFor(ticket, fmt::format("the outcome of ticket {}", ticket), /*forget=*/false);
}

bool WorkerClient::Done(Ticket ticket) const { return !CheckFork().ok() || tickets_.Done(ticket); }

}  // namespace leeway
