#include "sim/sim_env.h"

#include <utility>

#include "base/hash.h"

namespace leeway::sim {
namespace {

// Which stream of random bits, where it is not the node's own; mixed with the seed of the Env.
enum EnvStream : std::uint64_t { kJobTimes = 1 };

}  // namespace

SimTimers::~SimTimers() {
  for (const auto& [timer, event] : set_) queue_.Cancel(event);
}

TimerId SimTimers::After(Duration delay, std::function<void()> fire) {
  const std::uint64_t timer = next_++;
  Schedule(timer, queue_.now() + delay, std::move(fire));
  return TimerId(timer);
}

void SimTimers::Schedule(std::uint64_t timer, Duration when, std::function<void()> fire) {
  set_[timer] = queue_.At(when, [this, timer, fire = std::move(fire)]() mutable {
    if (queue_.now() < paused_until_) return Schedule(timer, paused_until_, std::move(fire));
    set_.erase(timer);
    fire();
  });
}

void SimTimers::Cancel(TimerId id) {
  const auto found = set_.find(id.value());
  if (found == set_.end()) return;
  queue_.Cancel(found->second);
  set_.erase(found);
}

SimEnv::SimEnv(EventQueue& queue, Network& network, HostId host, Disk& disk, LogRing& log, std::string name,
               std::uint64_t seed, Mount mount)
    : random_(seed),
      clock_(queue, std::chrono::milliseconds(random_.Below(1'000'000))),
      timers_(queue),
      transport_(network.MakeTransport(host, clock_)),
      log_(log, std::move(name)),
      storage_(queue, disk, std::move(mount)),
      compute_(queue, Hash64({seed, kJobTimes})),
      env_{clock_, timers_, *transport_, random_, log_, storage_, compute_, arena_} {}

}  // namespace leeway::sim
