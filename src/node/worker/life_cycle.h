// LifeCycle: how far a worker is in its life, why it ended, and who waits for its next phase.
//
// Thread rule: the node's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "node/worker/due_callbacks.h"

namespace leeway {

enum class WorkerPhase : std::uint8_t {
  kNew,
  kJoining,
  kMember,
  kLeaving,
  kObserver,
  kFinishing,
  kFinished,
  kStopped,
  kFailed
};

class LifeCycle {
 public:
  enum class Step : std::uint8_t { kJoin, kLeave, kFinish, kStop };

  [[nodiscard]] WorkerPhase phase() const { return phase_; }
  [[nodiscard]] bool Is(WorkerPhase phase) const { return phase_ == phase; }
  [[nodiscard]] TimePoint since() const { return since_; }
  // Failed or shut down: nothing works any more.
  [[nodiscard]] bool over() const { return Is(WorkerPhase::kFailed) || Is(WorkerPhase::kStopped); }
  void Enter(WorkerPhase phase, TimePoint now) {
    phase_ = phase;
    since_ = now;
  }
  void Fail(const Status& why) {
    phase_ = WorkerPhase::kFailed;
    failure_ = why;
  }
  // OK unless failed.
  [[nodiscard]] const Status& failure() const { return failure_; }
  // True once, if failed: the owner is to be told.
  [[nodiscard]] bool TakeFailure() { return Is(WorkerPhase::kFailed) && !std::exchange(told_, true); }
  // An error unless the worker is a member.
  [[nodiscard]] Status CheckMember(WorkerId rank) const;
  // An error if the worker may not read: it is not in the job, or a peer has gone that does not come back.
  [[nodiscard]] Status CheckReader(WorkerId rank) const;
  // True once, if leaving: the scheduler is to be told.
  [[nodiscard]] bool TakeLeave() { return Is(WorkerPhase::kLeaving) && !std::exchange(leave_sent_, true); }
  [[nodiscard]] bool leave_sent() const { return leave_sent_; }
  // A peer of a finished worker does not come back.
  void OnPeerGone(const Status& why) { gone_ = why; }

  // `done` hears of the end of this step.
  void Await(Step step, Done done) { waiting_[static_cast<std::size_t>(step)].push_back(std::move(done)); }
  void Tell(Step step, const Status& status, DueCallbacks& due) {
    for (Done& done : std::exchange(waiting_[static_cast<std::size_t>(step)], {}))
      due.LaterDone(std::move(done), status);
  }
  // The life is over: no step but kStop ends any more.
  void TellAll(const Status& why, DueCallbacks& due) {
    for (const Step step : {Step::kJoin, Step::kLeave, Step::kFinish}) Tell(step, why, due);
  }

 private:
  WorkerPhase phase_ = WorkerPhase::kNew;
  TimePoint since_;
  Status failure_;
  Status gone_;
  bool told_ = false;
  bool leave_sent_ = false;
  std::array<std::vector<Done>, 4> waiting_;  // by step
};

}  // namespace leeway
