// The end of an iteration without overlap, as PS-Lite has it: all pushes have their verdicts, then all
// members meet at the scheduler, then everyone pulls. For comparison only.
#include <algorithm>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// One round per iteration of each worker. Members that leave or die are not waited for, as at any barrier.
constexpr const char* kStepBarrier = "leeway step";

}  // namespace

void WorkerNode::Core::StepIfSettled() {
  if (steps_passed_ == steps_ended_ || at_step_barrier_ || phase_ != Phase::kMember) return;
  // Tables with clocks of their own have no part in it: their verdicts may wait for what others push later.
  const bool settled = std::ranges::all_of(blocks_, [](const WorkerBlock* block) {
    return block == nullptr || block->table->IsOwnClock() || block->pushes.empty();
  });
  if (!settled) return;
  at_step_barrier_ = true;
  requests_.Barrier(kStepBarrier, iteration_, steps_, [this](const Status& status) { OnStepped(status); });
}

void WorkerNode::Core::OnStepped(const Status& status) {
  at_step_barrier_ = false;
  if (phase_ != Phase::kMember) return;
  if (!status.ok()) return Fail(status);
  ++steps_passed_;
  stepped_at_ = env_.clock.Now();
  if (steps_passed_ < steps_ended_) return StepIfSettled();
  ForEachTable([this](WorkerTable& table) { RequestBlocks(table, iteration_ - 1); });
  FlushAll();
}

void WorkerNode::Core::DropSteps() {
  if (steps_passed_ == steps_ended_) return;
  steps_passed_ = steps_ended_;
  stepped_at_ = env_.clock.Now();
  at_step_barrier_ = false;
  requests_.ForgetBarrier(kStepBarrier);
  // Who reads a table between leaving and the end gets what there is.
  ForEachTable([this](WorkerTable& table) { RequestBlocks(table, iteration_ - 1); });
  FlushAll();
}

}  // namespace leeway
