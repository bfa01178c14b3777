// One iteration after the other: gradients out, values in.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// A group's record of idle iterations goes back so far. Older ones count as own, which policies take for an
// older cache and figures for a longer lead.
constexpr std::int64_t kIdleKept = 4096;

constexpr std::pair<const char*, float Hyper::*> kHyperFields[] = {{"lr", &Hyper::lr},
                                                                   {"weight_decay", &Hyper::weight_decay},
                                                                   {"momentum (beta1)", &Hyper::momentum},
                                                                   {"beta2", &Hyper::beta2},
                                                                   {"eps", &Hyper::eps},
                                                                   {"dampening", &Hyper::dampening}};

}  // namespace

Status WorkerNode::Core::CheckMember() const {
  switch (phase_) {
    case Phase::kMember:
      return Status::Ok();
    case Phase::kFailed:
      return failure_;
    case Phase::kNew:
    case Phase::kJoining:
      return FailedPrecondition("the worker has not joined the job yet");
    case Phase::kStopped:
      return FailedPrecondition("the worker was shut down");
    default:
      return FailedPrecondition("worker {} has left the job: it may only pull now", stance_.worker.value());
  }
}

Status WorkerNode::Core::CheckGradient(const WorkerTable& table, const LentGradient& gradient) const {
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

Status WorkerNode::Core::GradientReady(TableId id, LentGradient gradient, Done done) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(WorkerTable * table, FindPlaced(id));
  LW_RETURN_IF_ERROR(CheckGradient(*table, gradient));
  if (table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" has a clock of its own: push it with Push", table->spec.name);
  }
  if (table->pushed == iteration_) {
    return FailedPrecondition("table \"{}\" has its gradient of iteration {} already", table->spec.name,
                              iteration_.value());
  }
  if (!training_began_) NoteBeforeTraining();
  table->pushed = handed_ = iteration_;
  table->idle->MarkOwn(iteration_);
  NoteLead(*table);
  HandIn(*table, std::move(gradient), std::move(done));
  FlushAll();
  return Status::Ok();
}

void WorkerNode::Core::NoteIdle(std::uint32_t group) {
  for (auto& [other, idle] : groups_) {
    if (other == group) continue;
    if (iteration_ - kIdleKept > idle.from()) idle.AdvanceTo(iteration_ - kIdleKept);
    idle.MarkIdle(iteration_);
  }
}

Status WorkerNode::Core::EndIteration(std::optional<std::uint32_t> group) {
  LW_RETURN_IF_ERROR(CheckMember());
  if (group) NoteIdle(*group);
  ForEachTable([this, group](WorkerTable& table) {
    if (table.pushed == iteration_) return;
    table.pushed = iteration_;
    ExchangeSum(table, {}, group && table.spec.group != *group);
  });
  if (!training_began_) NoteBeforeTraining();
  ++iteration_;
  ++steps_;
  step_began_ = env_.clock.Now();
  step_ended_ = step_began_;
  wait_ns_before_ = counters_.wait_ns;
  if (!job_.overlap) ++steps_ended_;
  partial_.Begin();
  env_.timers.Cancel(std::exchange(partial_timer_, {}));
  Raise();
  CountArrived();
  FlushAll();
  StepIfSettled();
  return Status::Ok();
}

void WorkerNode::Core::PushBlocks(WorkerTable& table, Iteration iteration, std::uint64_t steps,
                                  LentGradient gradient, Done done) {
  std::shared_ptr<LentPush> lent = TakeLent();
  lent->table = table.id;
  lent->iteration = iteration;
  lent->steps = steps;
  lent->gradient = std::move(gradient);
  lent->done = std::move(done);
  lent->blocks = lent->blocks_left = table.blocks.size();
  lent->blocks_refused = 0;
  unsettled_ += table.blocks.size();
  const bool own_clock = table.IsOwnClock();
  for (WorkerBlock& block : table.blocks) {
    PortOf(block).ChangeQueue(block, [&](PushQueue& queue) {
      // A table with its own clock has no version in use: what it is pulled into is the user's.
      const Version base = own_clock ? Version(0) : table.landing.InUse(block.index);
      // The last one gets what is held here: for a table of one block no count is touched.
      queue.Append(iteration, &block == &table.blocks.back() ? std::move(lent) : lent, base, block.bytes());
    });
  }
}

void WorkerNode::Core::MarkAbsent(WorkerTable& table, Iteration iteration, bool idle) {
  for (WorkerBlock& block : table.blocks) MarkAbsent(block, iteration, idle);
}

void WorkerNode::Core::MarkAbsent(WorkerBlock& block, Iteration iteration, bool idle) {
  ++unsettled_;
  PortOf(block).ChangeQueue(block, [&](PushQueue& queue) { queue.AppendAbsent(iteration, idle); });
}

void WorkerNode::Core::PullBlocks(WorkerTable& table, Iteration progress) {
  const TimePoint now = env_.clock.Now();
  for (WorkerBlock& block : table.blocks) {
    block.pull.Ask(progress, now);
    PortOf(block).Touch(block);
  }
}

void WorkerNode::Core::BeginCalls() { batching_ = true; }

void WorkerNode::Core::EndCalls() {
  batching_ = false;
  if (std::exchange(flush_due_, false)) FlushAll();
}

void WorkerNode::Core::FlushAll() {
  if (batching_) {
    flush_due_ = true;
    return;
  }
  for (const std::unique_ptr<ShardPort>& port : ports_) port->Flush();
}

Status WorkerNode::Core::PushOwn(TableId id, LentGradient gradient, Done done) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(WorkerTable * table, FindPlaced(id));
  LW_RETURN_IF_ERROR(CheckGradient(*table, gradient));
  if (!table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: update it with Update",
                              table->spec.name);
  }
  ++table->pushed;
  PushBlocks(*table, table->pushed, static_cast<std::uint64_t>(table->pushed.value()), std::move(gradient),
             std::move(done));
  FlushAll();
  return Status::Ok();
}

Status WorkerNode::Core::PullInto(TableId id, std::span<float> values, Done done) {
  // Observers may pull, so this does not ask for a member.
  if (phase_ == Phase::kFailed) return failure_;
  LW_ASSIGN_OR_RETURN(WorkerTable * table, FindPlaced(id));
  if (!table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: read it with Sync", table->spec.name);
  }
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got room for {} values, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  table->into.push_back({values, table->pushed, table->blocks.size(), Status::Ok(), std::move(done)});
  if (table->into.size() == 1) BeginInto(*table);
  FlushAll();
  return Status::Ok();
}

void WorkerNode::Core::BeginInto(WorkerTable& table) { PullBlocks(table, table.into.front().progress); }

}  // namespace leeway
