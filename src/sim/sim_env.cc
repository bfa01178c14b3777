#include "sim/sim_env.h"

#include <utility>

namespace leeway::sim {

SimTimers::~SimTimers() {
  for (const auto& [timer, event] : set_) queue_.Cancel(event);
}

TimerId SimTimers::After(Duration delay, std::function<void()> fire) {
  const std::uint64_t timer = next_++;
  set_[timer] = queue_.After(delay, [this, timer, fire = std::move(fire)] {
    set_.erase(timer);
    fire();
  });
  return TimerId(timer);
}

void SimTimers::Cancel(TimerId id) {
  const auto found = set_.find(id.value());
  if (found == set_.end()) return;
  queue_.Cancel(found->second);
  set_.erase(found);
}

SimEnv::SimEnv(EventQueue& queue, SimNetwork& network, HostId host, LogRing& log, std::string name,
               std::uint64_t seed)
    : random_(seed),
      clock_(queue, std::chrono::milliseconds(random_.Below(1'000'000))),
      timers_(queue),
      transport_(network, host, clock_),
      log_(log, std::move(name)),
      env_{clock_, timers_, transport_, random_, log_} {}

}  // namespace leeway::sim
