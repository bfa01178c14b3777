// TimerQueue: a node's timers in the order in which they fire. Knows no clock and no loop; RealEnv drives it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "leeway/env.h"

namespace leeway {

class TimerQueue {
 public:
  TimerId Add(TimePoint when, std::function<void()> fire);
  void Cancel(TimerId id);
  // When the first timer is due; nothing when the queue is empty.
  [[nodiscard]] std::optional<TimePoint> Next() const;
  // Takes the first timer due at `now` out; empty when none is. Timers of one time fire in the order of Add.
  [[nodiscard]] std::function<void()> TakeDue(TimePoint now);

 private:
  std::map<std::pair<TimePoint, TimerId>, std::function<void()>> due_;
  std::unordered_map<TimerId, TimePoint> when_;
  std::uint64_t last_ = 0;
};

}  // namespace leeway
