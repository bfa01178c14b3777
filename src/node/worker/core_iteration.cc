// One iteration after the other: gradients out, values in.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

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
  LW_ASSIGN_OR_RETURN(WorkerTable * table, tables_.FindPlaced(id));
  LW_RETURN_IF_ERROR(CheckGradient(*table, gradient));
  if (table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" has a clock of its own: push it with Push", table->spec.name);
  }
  if (table->pushed == iteration_) {
    return FailedPrecondition("table \"{}\" has its gradient of iteration {} already", table->spec.name,
                              iteration_.value());
  }
  if (!waits_.training()) NoteBeforeTraining();
  table->pushed = handed_ = iteration_;
  table->idle->MarkOwn(iteration_);
  NoteLead(*table);
  HandIn(*table, std::move(gradient), std::move(done));
  ports_.Flush();
  return Status::Ok();
}

Status WorkerNode::Core::EndIteration(std::optional<std::uint32_t> group) {
  LW_RETURN_IF_ERROR(CheckMember());
  if (group) tables_.NoteIdle(*group, iteration_);
  tables_.ForEachJobClock([this, group](WorkerTable& table) {
    if (table.pushed == iteration_) return;
    table.pushed = iteration_;
    SendOut(table, exchange_.Close(table, iteration_), {}, group && table.spec.group != *group);
  });
  if (!waits_.training()) NoteBeforeTraining();
  ++iteration_;
  ++steps_;
  waits_.NoteStep(env_.clock.Now());
  step_.EndStep();
  partial_.Begin();
  Raise();
  partial_.CountArrived(tables_, iteration_ - 1);
  ports_.Flush();
  StepIfSettled();
  return Status::Ok();
}

void WorkerNode::Core::PushBlocks(WorkerTable& table, Iteration iteration, std::uint64_t steps,
                                  LentGradient gradient, Done done) {
  ports_.Push(table, loans_.Take(table, iteration, steps, std::move(gradient), std::move(done)));
}

Status WorkerNode::Core::PushOwn(TableId id, LentGradient gradient, Done done) {
  LW_RETURN_IF_ERROR(CheckMember());
  LW_ASSIGN_OR_RETURN(WorkerTable * table, tables_.FindPlaced(id));
  LW_RETURN_IF_ERROR(CheckGradient(*table, gradient));
  if (!table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: update it with Update",
                              table->spec.name);
  }
  ++table->pushed;
  PushBlocks(*table, table->pushed, static_cast<std::uint64_t>(table->pushed.value()), std::move(gradient),
             std::move(done));
  ports_.Flush();
  return Status::Ok();
}

Status WorkerNode::Core::PullInto(TableId id, std::span<float> values, Done done) {
  // Observers may pull, so this does not ask for a member.
  if (phase_ == Phase::kFailed) return failure_;
  LW_ASSIGN_OR_RETURN(WorkerTable * table, tables_.FindPlaced(id));
  if (!table->IsOwnClock()) {
    return FailedPrecondition("table \"{}\" follows the job's clock: read it with Sync", table->spec.name);
  }
  if (values.size() != table->elements) {
    return InvalidArgument("table \"{}\": got room for {} values, wanted {}", table->spec.name, values.size(),
                           table->elements);
  }
  table->into.push_back({values, table->pushed, table->blocks.size(), Status::Ok(), std::move(done)});
  if (table->into.size() == 1) BeginInto(*table);
  ports_.Flush();
  return Status::Ok();
}

void WorkerNode::Core::BeginInto(WorkerTable& table) {
  ports_.Pull(table, table.into.front().progress, env_.clock.Now());
}

}  // namespace leeway
