#include "node/server/block_alarms.h"

#include <algorithm>

namespace leeway {

void BlockAlarms::Set(BlockId block, TimePoint when) {
  TimerId& timer = timers_[block];
  env_.timers.Cancel(timer);
  timer = env_.timers.After(std::max(Duration::zero(), when - env_.clock.Now()), [this, block] {
    timers_.erase(block);
    wake_(block);
  });
}

void BlockAlarms::Clear() {
  for (const auto& [block, timer] : timers_) env_.timers.Cancel(timer);
  timers_.clear();
}

}  // namespace leeway
