#include "process/step_trace.h"

#include <utility>

namespace leeway {

void StepTrace::AddCompute(TimePoint now) {
  if (!trace_.Wants(iteration_)) return;
  trace_.Add({.kind = TraceEvent::Kind::kSlice,
              .name = "compute",
              .iteration = iteration_,
              .at = computes_since_,
              .until = now,
              .track = Trace::kUserTrack});
}

void StepTrace::BeginWait(std::string_view of) {
  if (!IsOwner() || !trace_.Wants(iteration_)) return;
  const TimePoint now = trace_.Now();
  AddCompute(now);
  wait_traced_ = true;
  trace_.Add({.kind = TraceEvent::Kind::kBegin,
              .name = "wait",
              .of = of,
              .iteration = iteration_,
              .id = ++waits_,
              .at = now,
              .track = Trace::kUserTrack});
  // A process that is killed now shows what it waited for.
  trace_.Flush();
}

void StepTrace::EndWait() {
  if (!IsOwner()) return;
  computes_since_ = trace_.Now();
  if (!std::exchange(wait_traced_, false)) return;
  trace_.Add({.kind = TraceEvent::Kind::kEnd,
              .name = "wait",
              .iteration = iteration_,
              .id = waits_,
              .at = computes_since_,
              .track = Trace::kUserTrack});
}

void StepTrace::Clock(Iteration next) {
  if (owner_.load(std::memory_order_relaxed) == std::thread::id()) owner_ = std::this_thread::get_id();
  if (!IsOwner()) return;
  const TimePoint now = trace_.Now();
  if (trace_.Wants(iteration_)) {
    AddCompute(now);
    trace_.Flush();
  }
  iteration_ = next;
  computes_since_ = now;
}

}  // namespace leeway
