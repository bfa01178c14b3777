// The barrier at the end of a step, in a job without overlap.
#include <algorithm>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::StepIfSettled() {
  if (!step_.behind() || step_.entered() || phase_ != Phase::kMember) return;
  // Tables with clocks of their own have no part in it: their verdicts may wait for what others push later.
  const WorkerBlock* unsettled = tables_.FindBlockThat(
      [](const WorkerBlock& block) { return !block.table->IsOwnClock() && !block.pushes.empty(); });
  if (unsettled != nullptr || !step_.Enter()) return;
  requests_.Barrier(StepBarrier::kName, iteration_, steps_,
                    [this](const Status& status) { OnStepped(status); });
}

void WorkerNode::Core::OnStepped(const Status& status) {
  step_.Leave();
  if (phase_ != Phase::kMember) return;
  if (!status.ok()) return Fail(status);
  step_.Pass(env_.clock.Now());
  if (step_.behind()) return StepIfSettled();
  tables_.ForEachJobClock([this](WorkerTable& table) { RequestBlocks(table, iteration_ - 1); });
  ports_.Flush();
}

void WorkerNode::Core::DropSteps() {
  if (!step_.behind()) return;
  step_.PassAll(env_.clock.Now());
  requests_.ForgetBarrier(StepBarrier::kName);
  // Who reads a table between leaving and the end gets what there is.
  tables_.ForEachJobClock([this](WorkerTable& table) { RequestBlocks(table, iteration_ - 1); });
  ports_.Flush();
}

}  // namespace leeway
