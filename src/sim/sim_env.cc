#include "sim/sim_env.h"

#include <utility>

#include "base/hash.h"

namespace leeway::sim {
namespace {

// The streams of random bits beside the node's own; mixed with the seed of the Env.
enum EnvStream : std::uint64_t { kJobTimes = 1 };

}  // namespace

SimTimers::~SimTimers() {
  for (const Timer& timer : timers_) queue_.Cancel(timer.event);
}

TimerId SimTimers::After(Duration delay, std::function<void()> fire) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(timers_.size()));
    timers_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Timer& timer = timers_[index];
  timer.fire = std::move(fire);
  ++timer.generation;
  Schedule(index, queue_.now() + delay);
  return TimerId((static_cast<std::uint64_t>(timer.generation) << 32) | index);
}

void SimTimers::Schedule(std::uint32_t index, Duration when) {
  timers_[index].event = queue_.At(when, [this, index] { OnEvent(index); });
}

void SimTimers::OnEvent(std::uint32_t index) {
  if (queue_.now() < paused_until_) return Schedule(index, paused_until_);
  const std::function<void()> fire = std::exchange(timers_[index].fire, nullptr);
  timers_[index].event = {};
  free_.push_back(index);
  fire();  // it may destroy the node, and its timers with it
}

void SimTimers::Cancel(TimerId id) {
  const auto index = static_cast<std::uint32_t>(id.value());
  if (index >= timers_.size() || timers_[index].generation != id.value() >> 32) return;
  if (timers_[index].event == EventId{}) return;
  queue_.Cancel(std::exchange(timers_[index].event, {}));
  timers_[index].fire = nullptr;
  free_.push_back(index);
}

SimEnv::SimEnv(EventQueue& queue, Network& network, HostId host, Disk& disk, LogRing& log, std::string name,
               std::uint64_t seed, Mount mount, JobCosts job_costs)
    : random_(seed),
      clock_(queue, std::chrono::milliseconds(random_.Below(1'000'000))),
      timers_(queue),
      transport_(network.MakeTransport(host, clock_)),
      log_(log, std::move(name)),
      storage_(queue, disk, std::move(mount)),
      compute_(queue, Hash64({seed, kJobTimes}), std::move(job_costs)),
      env_{clock_, timers_, *transport_, random_, log_, storage_, compute_, arena_} {}

}  // namespace leeway::sim
