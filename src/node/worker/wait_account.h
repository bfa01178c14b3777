// WaitAccount: how long the user was held up, and by what; when training began, and the last step.
//
// The user may wait for several tables at once: time counts from the first of these waits to the end of the
// last one. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/worker.h"
#include "node/worker/table.h"

namespace leeway {

class WaitAccount {
 public:
  // Borrows `counters` for its life.
  explicit WaitAccount(WorkerCounters& counters) : counters_(counters) {}

  void Begin(TimePoint now) {
    if (open_++ == 0) since_ = now;
  }
  // True: it was the last wait open.
  bool End(TimePoint now);
  // Charges the time until now to the block of `server` and the worker that the table waited for, after the
  // time at the barrier of a step, if the waits saw its end. REQUIRES: End was true.
  void Charge(const WorkerTable& table, std::uint32_t server, TimePoint barrier_passed, TimePoint now);
  [[nodiscard]] std::size_t open() const { return open_; }
  // When the waits that are open, or were open last, began.
  [[nodiscard]] TimePoint since() const { return since_; }

  // Training has not begun before now: there was a wait, and no gradient yet.
  void NoteBeforeTraining(TimePoint now);
  [[nodiscard]] bool training() const { return training_began_.has_value(); }
  void NoteStep(TimePoint now);
  [[nodiscard]] std::optional<Duration> SinceTrainingBegan(TimePoint now) const;
  [[nodiscard]] std::optional<Duration> SinceStep(TimePoint now) const;
  // How long the user computed in this step: all but the waits that have ended.
  [[nodiscard]] Duration Computing(TimePoint now) const;

 private:
  WorkerCounters& counters_;
  std::size_t open_ = 0;
  TimePoint since_;
  // The worker that the last wait was for, and where its waits are counted.
  WorkerId waited_for_ = kNoWorker;
  std::uint64_t* waited_by_worker_ = nullptr;
  std::optional<TimePoint> training_began_, step_ended_;  // the first step, the last one
  TimePoint step_began_;
  std::uint64_t wait_ns_before_ = 0;  // counters_.wait_ns when the step began
};

}  // namespace leeway
