#include "node/worker/life_cycle.h"

#include "base/errors.h"

namespace leeway {

Status LifeCycle::CheckMember(WorkerId rank) const {
  switch (phase_) {
    case WorkerPhase::kMember:
      return Status::Ok();
    case WorkerPhase::kFailed:
      return failure_;
    case WorkerPhase::kNew:
    case WorkerPhase::kJoining:
      return FailedPrecondition("the worker has not joined the job yet");
    case WorkerPhase::kStopped:
      return FailedPrecondition("the worker was shut down");
    default:
      return FailedPrecondition("worker {} has left the job: it may only pull now", rank.value());
  }
}

Status LifeCycle::CheckReader(WorkerId rank) const {
  switch (phase_) {
    case WorkerPhase::kNew:
    case WorkerPhase::kJoining:
    case WorkerPhase::kStopped:
      return CheckMember(rank);
    case WorkerPhase::kFinished:
      return gone_;
    default:
      return Status::Ok();
  }
}

}  // namespace leeway
