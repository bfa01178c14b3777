// StepBarrier: the end of an iteration without overlap, as PS-Lite has it: all pushes have their verdicts,
// then all members meet at the scheduler, then everyone pulls. For comparison only.
//
// Counts the steps that have ended and those whose barrier was passed; the node meets the others. Thread
// rule: the node's.
#pragma once

#include <cstdint>
#include <utility>

#include "leeway/env.h"

namespace leeway {

class StepBarrier {
 public:
  // One round per iteration of each worker. Members that leave or die are not waited for, as at any barrier.
  static constexpr const char* kName = "leeway step";

  // The job has no overlap: each step ends at a barrier.
  void Enable() { enabled_ = true; }
  void EndStep() { ended_ += enabled_ ? 1 : 0; }
  // A step has ended, and its barrier was not passed.
  [[nodiscard]] bool behind() const { return passed_ != ended_; }
  // Whether pulls come after a barrier: that of the step which is not over, or of one that has ended.
  [[nodiscard]] bool HoldsPulls(bool of_this_step) const {
    return enabled_ && passed_ < ended_ + (of_this_step ? 1 : 0);
  }
  // True: the worker goes to the barrier now. REQUIRES: its pushes have their verdicts.
  [[nodiscard]] bool Enter() { return behind() && !std::exchange(entered_, true); }
  [[nodiscard]] bool entered() const { return entered_; }
  // The barrier has ended, whether passed or not.
  void Leave() { entered_ = false; }
  void Pass(TimePoint now) {
    ++passed_;
    passed_at_ = now;
  }
  // The worker passes no barrier any more.
  void PassAll(TimePoint now) {
    passed_ = ended_;
    passed_at_ = now;
    entered_ = false;
  }
  // When the last barrier was passed, or given up.
  [[nodiscard]] TimePoint passed_at() const { return passed_at_; }

 private:
  bool enabled_ = false;
  bool entered_ = false;
  std::uint64_t ended_ = 0, passed_ = 0;
  TimePoint passed_at_;
};

}  // namespace leeway
