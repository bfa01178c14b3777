// The worker's calls of every iteration, and those that change the synchronization of the job.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "process/worker_client.h"
#include "sync/sync_rules.h"
#include "transport/loop/event_loop.h"

namespace leeway {
namespace {

// The callback of each of two parts: the first error of both is the outcome.
Done BothOf(Done done) {
  struct Both {
    int left = 2;
    Status first_error;
  };
  return [both = std::make_shared<Both>(),
          done = std::move(done)](const Status& outcome) {  // shared: by the parts
    if (both->first_error.ok()) both->first_error = outcome;
    if (--both->left == 0) done(both->first_error);
  };
}

// Ends a call that the node did not take.
void EndIf(const Status& refused, const Done& done) {
  if (!refused.ok()) done(refused);
}

LentGradient Lend(std::span<const float> gradient, PushOptions& how) {
  // The call may wait for the node's thread, which counts as a delay of the push.
  const TimePoint ready = std::min(how.ready, EventLoop::Now());
  return {gradient, std::move(how.pin), how.hyper, how.samples, ready};
}

// The call that pushes a gradient on loan.
NodeCalls::Call Pushing(TableId id, std::span<const float> gradient, PushOptions& how) {
  return [id, lent = Lend(gradient, how)](WorkerNode& node, const Done& done) mutable {
    EndIf(node.Push(id, std::move(lent), done), done);
  };
}

}  // namespace

void WorkerClient::ReportRecord() {
  // The next report makes up for one that is not taken.
  (void)calls_->Tell([figures = record_->Figures()](WorkerNode& node) {
    for (const auto& [name, value] : figures) node.SetFigure(name, value);
  });
}

Result<Ticket> WorkerClient::Push(TableId id, std::span<const float> gradient, PushOptions how) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  LW_ASSIGN_OR_RETURN(ClientTable * table, tables_.CheckPush(id, gradient, how, iteration()));
  if (record_ != nullptr && !table->own_clock()) record_->NoteReady(id);
  LW_ASSIGN_OR_RETURN(const Ticket ticket, calls_->Begin(Pushing(id, gradient, how), std::move(how.done)));
  tables_.MarkPushed(*table);
  return ticket;
}

Result<std::vector<Ticket>> WorkerClient::PushAll(std::vector<TablePush> pushes) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  LW_ASSIGN_OR_RETURN(const ClientTables::Marked marked, tables_.MarkAllPushed(pushes, iteration()));
  if (record_ != nullptr) {
    for (std::size_t i = 0; i < pushes.size(); ++i) {
      if (!marked[i].first->own_clock()) record_->NoteReady(pushes[i].table);
    }
  }
  std::vector<std::pair<NodeCalls::Call, leeway::Done>> calls;
  for (TablePush& push : pushes) {
    calls.emplace_back(Pushing(push.table, push.gradient, push.how), nullptr);
    calls.back().second = std::move(push.how.done);
  }
  Result<std::vector<Ticket>> tickets = calls_->BeginAll(std::move(calls));
  if (!tickets.ok()) ClientTables::Unmark(marked);
  return tickets;
}

void WorkerClient::OnIteration(Iteration now) {
  std::int64_t known = iteration_.load(std::memory_order_relaxed);
  while (known < now.value() && !iteration_.compare_exchange_weak(known, now.value())) {
  }
}

Status WorkerClient::End(std::optional<std::uint32_t> group) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  // Raised before the node hears of it, because the node may then raise it further.
  iteration_.fetch_add(1, std::memory_order_relaxed);
  Status queued = calls_->Tell([this, group, uses = tables_.TakeUses()](WorkerNode& node) {
    if (!uses.empty()) node.NoteUses(uses);
    waits_.ForEachFigure([&node](const char* name, double s) { node.SetFigure(name, s); });
    // An error means that the worker has failed meanwhile: the next call reports it.
    (void)node.Clock(group);
    // The node's count includes iterations that it skipped while this call was queued; ours does not yet.
    OnIteration(node.iteration());
  });
  if (!queued.ok()) {
    iteration_.fetch_sub(1, std::memory_order_relaxed);
    return queued;
  }
  tables_.OnClock();
  if (step_trace_ != nullptr) step_trace_->Clock(iteration());
  if (record_ != nullptr) {
    record_->Clock();
    if (record_->IsDue()) ReportRecord();
  }
  return Status::Ok();
}

Result<std::span<const float>> WorkerClient::Sync(TableId id) {
  LW_RETURN_IF_ERROR(life_.CheckFork());
  LW_ASSIGN_OR_RETURN(ClientTable * table, tables_.FindStarted(id));
  if (tables_.IsSynced(*table)) return table->pair->Read();
  // Final values stay readable after the shutdown, so the worker must be alive only if this call has to wait.
  const Iteration needed = iteration() - 1;
  const bool asks = gated_.load(std::memory_order_acquire) && !life_.left();
  if (asks || table->pair->ready() < needed || !table->pair->Take()) {
    const WaitTimes::Scope timed(waits_, WaitCause::kValues, table->spec.name);
    const NodeCalls::What what = [table, now = iteration()] {
      return fmt::format("using table \"{}\" in iteration {}", table->spec.name, now.value());
    };
    const TimePoint asked = EventLoop::Now();
    do {
      LW_RETURN_IF_ERROR(life_.CheckAlive());
      LW_RETURN_IF_ERROR(calls_->CallAndWait(
          [id, asked](WorkerNode& node, leeway::Done done) { node.Sync(id, std::move(done), asked); }, what));
    } while (!table->pair->Take());
  } else if (life_.failed()) {
    return life_.CheckAlive();
  }
  tables_.MarkSynced(id, *table);
  return table->pair->Read();
}

Result<Ticket> WorkerClient::Pull(TableId id, std::span<float> values,
                                  std::function<void(const Status&)> done) {
  LW_RETURN_IF_ERROR(life_.CheckAlive());
  LW_ASSIGN_OR_RETURN(const ClientTable* table, tables_.FindStarted(id));
  if (!table->own_clock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: use Sync, not Pull", table->spec.name);
  }
  LW_RETURN_IF_ERROR(table->CheckRoom(values));
  return calls_->Begin(
      [id, values](WorkerNode& node, const leeway::Done& end) { EndIf(node.Pull(id, values, end), end); },
      std::move(done));
}

Result<Ticket> WorkerClient::PushPull(TableId id, std::span<const float> gradient, std::span<float> values,
                                      PushOptions how) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  LW_ASSIGN_OR_RETURN(const ClientTable* table, tables_.FindStarted(id));
  if (!table->own_clock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: use Push and Sync, not PushPull",
                              table->spec.name);
  }
  LW_RETURN_IF_ERROR(table->CheckGradient(gradient, how));
  LW_RETURN_IF_ERROR(table->CheckRoom(values));
  return calls_->Begin(
      [id, lent = Lend(gradient, how), values](WorkerNode& node, const leeway::Done& done) mutable {
        const leeway::Done part = BothOf(done);
        const Status pushing = node.Push(id, std::move(lent), part);
        if (!pushing.ok()) return done(pushing);
        EndIf(node.Pull(id, values, part), part);
      },
      std::move(how.done));
}

Status WorkerClient::Wait(Ticket ticket) {
  LW_RETURN_IF_ERROR(life_.CheckFork());
  // An outcome that is there needs no clock and no words.
  if (std::optional<Status> outcome = calls_->Take(ticket)) return *std::move(outcome);
  const WaitTimes::Scope timed(waits_, WaitCause::kTickets, "outcome of a ticket");
  return calls_->Wait(ticket, [ticket] { return fmt::format("the outcome of ticket {}", ticket); });
}

Result<std::uint32_t> WorkerClient::SetSync(const std::string& rule) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  // A text that is no rule need not go to the scheduler.
  LW_RETURN_IF_ERROR(ParseSyncRule(rule).status());
  auto tables =
      std::make_shared<std::uint32_t>(0);  // shared: the call may outlive a wait that ran into its limit
  LW_RETURN_IF_ERROR(calls_->CallAndWait(
      [rule, tables](WorkerNode& node, const leeway::Done& done) {
        node.SetSync(rule, [tables, done](const Status& status, std::uint32_t meant) {
          *tables = meant;
          done(status);
        });
      },
      fmt::format("setting the rule \"{}\"", rule)));
  return *tables;
}

Result<std::uint32_t> WorkerClient::SetCondition(const char* call, SyncCondition given,
                                                 const std::string& tables, const std::string& formula) {
  LW_RETURN_IF_ERROR(life_.CheckMember());
  auto syncs = std::make_shared<std::vector<std::string>>();  // shared: as in SetSync
  LW_RETURN_IF_ERROR(calls_->CallAndWait(
      [tables, syncs](WorkerNode& node, const leeway::Done& done) {
        *syncs = node.SyncsOf(tables);
        done(Status::Ok());
      },
      call));
  LW_ASSIGN_OR_RETURN(const std::string rule,
                      ConditionRule(policies_.sync, call, given, tables, formula, *syncs));
  return SetSync(rule);
}

}  // namespace leeway
