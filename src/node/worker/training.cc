#include "node/worker/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::pair<const char*, float Hyper::*> kHyperFields[] = {{"lr", &Hyper::lr},
                                                                   {"weight_decay", &Hyper::weight_decay},
                                                                   {"momentum (beta1)", &Hyper::momentum},
                                                                   {"beta2", &Hyper::beta2},
                                                                   {"eps", &Hyper::eps},
                                                                   {"dampening", &Hyper::dampening}};

Status CheckGradient(const WorkerTable& table, const LentGradient& gradient) {
  if (gradient.values.size() != table.elements) {
    return InvalidArgument("table \"{}\": got a gradient of {} values, wanted {}", table.spec.name,
                           gradient.values.size(), table.elements);
  }
  if (gradient.samples == 0) {
    return InvalidArgument("table \"{}\": a gradient over 0 samples, wanted at least 1", table.spec.name);
  }
  for (const auto& [name, field] : kHyperFields) {
    const float value = gradient.hyper.*field;
    if (!std::isfinite(value)) {
      return InvalidArgument("table \"{}\": {} is {}, wanted a finite number", table.spec.name, name, value);
    }
  }
  return Status::Ok();
}

}  // namespace

Training::Training(const WorkerOptions& options, Env& env, const WorkerPolicies& policies,
                   const WorkerIdentity& self, WorkerCounters& counters, DueCallbacks& due, Events events)
    : env_(env),
      self_(self),
      counters_(counters),
      due_(due),
      events_(std::move(events)),
      tables_(env.arena),
      communication_(env.clock, env.trace),
      ports_(self, counters, communication_, options),
      loans_(env.timers, due, counters, events_.loans_looked),
      writes_(env.arena,
              [this](WorkerTable& table) {
                if (ended_) return;
                PublishIfWhole(table);
                events_.shown();
                ports_.Flush();
              }),
      rules_(policies.sync),
      exchange_(counters, policies.exchanges),
      partial_(env.timers, counters,
               [this] {
                 ReleaseAllWaiters();
                 due_.Run();
               }),
      waits_(counters),
      own_pulls_(env.clock, due) {}

Status Training::TakeJob(const JobOptions& job) {
  LW_ASSIGN_OR_RETURN(const PullPolicy pull, ParsePullPolicy(job.pull));
  LW_RETURN_IF_ERROR(exchange_.TakePolicy(job.exchange));
  partial_.SetPolicy(pull);
  if (pull.partial && pull.late == PullPolicy::Late::kWithdraw) ports_.TakeNewestOnly();
  if (!job.overlap) step_.Enable();
  ports_.SetFlushBytes(job.flush_bytes);
  if (job.priorities) {
    ports_.UsePriorities();
    use_order_.emplace();
  }
  pulls_at_clock_ = job.pull_at == "clock";
  job_sync_ = job.sync;
  return Status::Ok();
}

Status Training::Place(const std::vector<WorkerTable*>& tables, const wire::pb::TableMap& map) {
  if (static_cast<std::size_t>(map.tables_size()) != tables.size()) {
    return Protocol("a map of {} tables, wanted {}", map.tables_size(), tables.size());
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const wire::pb::Table& entry = map.tables(static_cast<int>(i));
    LW_RETURN_IF_ERROR(TableSet::Place(*tables[i], entry, ports_.all().size()));
    LW_RETURN_IF_ERROR(TakeModels(*tables[i], entry));
    if (partial_.partial().enabled()) tables[i]->landing.LandAside();
  }
  for (WorkerTable* table : tables) {
    tables_.Index(*table);
    for (WorkerBlock& block : table->blocks) ports_.Of(block).AddBlock(block);
    // A table or a worker that comes late has no gradients of the iterations before: without this its blocks
    // would wait for them, and the first pull for the blocks.
    table->pushed = (table->IsOwnClock() ? table->own_first : iteration_) - 1;
    if (table->pushed >= Iteration(0)) ports_.MarkAbsent(*table, table->pushed);
    table->exchanged = table->pushed;
    if (!table->IsOwnClock()) ports_.Pull(*table, table->pushed, env_.clock.Now());
  }
  CountRules();
  ports_.Flush();
  return Status::Ok();
}

Status Training::Switch(const wire::pb::TableMap& map) {
  for (const wire::pb::Table& entry : map.tables()) {
    const auto found =
        std::ranges::find_if(tables_.all(), [&entry](const std::unique_ptr<WorkerTable>& table) {
          return table->state == WorkerTable::State::kPlaced && table->spec.name == entry.name();
        });
    // A table that this worker lacks, or has asked for: the answer to that tells.
    if (found == tables_.all().end()) continue;
    LW_RETURN_IF_ERROR(TakeModels(**found, entry));
  }
  CountRules();
  ReleaseAllWaiters();
  return Status::Ok();
}

void Training::Broadcast(TableId id, LentGradient values, Done done) {
  Result<WorkerTable*> found = tables_.FindPlaced(id);
  if (!found.ok()) return due_.LaterDone(std::move(done), found.status());
  const Status taken = writes_.Broadcast(**found, std::move(values), done, loans_, ports_);
  if (!taken.ok()) return due_.LaterDone(std::move(done), taken);
  ports_.Flush();
}

void Training::Assign(TableId id, AssignedArray array, LentGradient values, Done done) {
  Result<WorkerTable*> found = tables_.FindPlaced(id);
  if (!found.ok()) return due_.LaterDone(std::move(done), found.status());
  const Status taken =
      writes_.Assign(**found, array, std::move(values), done, iteration_, steps_, loans_, ports_);
  if (!taken.ok()) return due_.LaterDone(std::move(done), taken);
  ports_.Flush();
}

Status Training::Push(TableId id, LentGradient gradient, Done done) {
  LW_ASSIGN_OR_RETURN(WorkerTable * table, tables_.FindPlaced(id));
  LW_RETURN_IF_ERROR(CheckGradient(*table, gradient));
  if (table->IsOwnClock()) {
    ++table->pushed;
    ports_.Push(*table, loans_.Take(*table, table->pushed, static_cast<std::uint64_t>(table->pushed.value()),
                                    std::move(gradient), std::move(done)));
    ports_.Flush();
    return Status::Ok();
  }
  if (table->pushed == iteration_) {
    return FailedPrecondition("table \"{}\" has its gradient of iteration {} already", table->spec.name,
                              iteration_.value());
  }
  if (!waits_.training()) NoteBeforeTraining();
  table->pushed = handed_ = iteration_;
  table->idle->MarkOwn(iteration_);
  exchange_.NoteLead(*table, iteration_);
  if (const Status spoils = exchange_.Check(*table, iteration_, gradient.values); !spoils.ok()) {
    counters_.refused += table->blocks.size();
    due_.LaterDone(std::move(done), spoils);
    SendOut(*table, exchange_.Close(*table, iteration_), {});
  } else {
    SendOut(*table, exchange_.HandIn(*table, iteration_, std::move(gradient), tables_.pool()),
            std::move(done));
  }
  ports_.Flush();
  return Status::Ok();
}

void Training::Clock(std::optional<std::uint32_t> group) {
  if (group) tables_.NoteIdle(*group, iteration_);
  tables_.ForEachJobClock([this, group](WorkerTable& table) {
    if (table.pushed == iteration_) return;
    table.pushed = iteration_;
    SendOut(table, exchange_.Close(table, iteration_), {}, group && table.spec.group != *group);
  });
  if (!waits_.training()) NoteBeforeTraining();
  if (pulls_at_clock_)
    tables_.ForEachJobClock([this](WorkerTable& table) { RequestBlocks(table, iteration_); });
  if (use_order_ && use_order_->EndIteration()) {
    tables_.ForEachJobClock(
        [this](WorkerTable& table) { table.priority = use_order_->PriorityOf(table.id); });
  }
  ++iteration_;
  ++steps_;
  waits_.NoteStep(env_.clock.Now());
  step_.EndStep();
  partial_.Begin();
  SkipAhead();
  partial_.CountArrived(tables_, iteration_ - 1);
  ports_.Flush();
  StepIfSettled();
}

void Training::SendOut(WorkerTable& table, std::optional<LentGradient> gradient, Done done, bool idle) {
  const TimePoint now = env_.clock.Now();
  const TimePoint ready = gradient ? std::min(gradient->ready, now) : now;
  communication_.Begin(table, iteration_, ready);
  if (gradient) {
    communication_.trace().BeginPush(table, iteration_, ready, done);
    ports_.Push(table, loans_.Take(table, iteration_, steps_, *std::move(gradient), std::move(done)));
  } else {
    ports_.MarkAbsent(table, iteration_, idle);
    due_.LaterDone(std::move(done), Status::Ok());
  }
  if (!pulls_at_clock_) RequestBlocks(table, iteration_);
}

Status Training::Pull(TableId id, std::span<float> values, Done done) {
  LW_ASSIGN_OR_RETURN(WorkerTable * table, tables_.FindPlaced(id));
  if (!table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: read it with Sync", table->spec.name);
  }
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got room for {} values, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  own_pulls_.Begin(*table, values, table->pushed, std::move(done), ports_);
  ports_.Flush();
  return Status::Ok();
}

void Training::Leave() {
  is_member_ = false;
  communication_.account().Stop(env_.clock.Now());
  if (step_.behind()) {
    step_.PassAll(env_.clock.Now());
    // A user that reads a table between leaving and the end gets the newest values.
    RequestAll();
  }
  // A sum would be lost with the worker.
  tables_.ForEachJobClock([this](WorkerTable& table) {
    if (table.sum.empty()) return;
    Iteration last = std::max(table.pushed + 1, iteration_);
    // Below what a block collects now it would be late there, and dropped under models that drop.
    for (const WorkerBlock& block : table.blocks) last = std::max(last, block.told);
    for (WorkerBlock& block : table.blocks) {
      // Blocks that are not as far wait for the iterations left out, and take nothing from beyond their
      // window.
      if (block.told < last && last > table.pushed + 1) ports_.MarkAbsent(block, last - 1);
    }
    table.pushed = last;
    ports_.Push(table, loans_.Take(table, last, steps_, table.sum.Take(), {}));
  });
  ports_.Flush();
}

Iteration Training::end() const {
  // Sums that were pushed last may be of a later iteration than the one that this worker was in.
  Iteration end = iteration_;
  tables_.ForEachJobClock([&end](const WorkerTable& table) { end = std::max(end, table.pushed + 1); });
  return end;
}

void Training::OnLeft() {
  CountRules();  // no rule binds a worker that counts no more
  ReleaseAllWaiters();
  // A pull of a member may wait for an iteration that this worker no longer takes part in. The pull of an
  // observer is answered with the values of now.
  tables_.ForEachBlock([this](WorkerBlock& block) {
    if (!block.pull.open()) return;
    block.pull.AskAgain();
    ports_.Of(block).Touch(block);
  });
  ports_.Flush();
}

bool Training::LacksAt(Iteration cut) const {
  // Where iterations are exchanged one by one, all below this one are on their way. Else the last ones may
  // have been added up instead, and those that went with this iteration's are beyond the cut.
  return exchange_.AddsUp() &&
         (iteration_ > cut || (iteration_ == cut && (handed_ == cut || tables_.HoldsSums())));
}

void Training::FailAll(const Status& why) {
  is_member_ = false;
  ended_ = true;
  partial_.Stop();
  std::vector<std::shared_ptr<LentPush>> lents;
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    for (WorkerTable::Waiter& waiter : std::exchange(table->waiters, {})) {
      due_.LaterDone(std::move(waiter.usable), why);
      EndWait(nullptr);
    }
    while (!table->into.empty()) due_.LaterDone(table->into.pop_front().done, why);
    for (WorkerBlock& block : table->blocks) {
      block.pull.Drop();
      if (block.init != nullptr) lents.push_back(std::exchange(block.init, nullptr));
      ports_.Of(block).ChangeQueue(block, [&](PushQueue& queue) {
        queue.Drain([&](QueuedPush& push) {
          if (push.lent != nullptr) lents.push_back(std::move(push.lent));
        });
      });
    }
  }
  // Each gradient once, in the order in which they were lent.
  while (!lents.empty()) {
    std::shared_ptr<LentPush> lent = lents.front();
    std::erase(lents, lent);
    loans_.Return(std::move(lent), why);
  }
}

}  // namespace leeway
