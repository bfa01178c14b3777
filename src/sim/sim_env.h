// SimEnv: the Env of one node in a simulated world: virtual clock and timers, a seeded stream of bits, the
// world's network, its host's disk, and a log that goes to the world's ring. Lifetime rule: the world
// outlives it; its timers, connections and pending calls end with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/heap_arena.h"
#include "leeway/env.h"
#include "sim/disk.h"
#include "sim/event_queue.h"
#include "sim/log_ring.h"
#include "sim/network.h"
#include "sim/seeded_random.h"
#include "sim/sim_compute.h"
#include "sim/sim_storage.h"

namespace leeway::sim {

// Shows the world's time with an offset of its own, because points of different nodes do not compare.
class SimClock final : public Clock {
 public:
  SimClock(const EventQueue& queue, Duration offset) : queue_(queue), offset_(offset) {}
  [[nodiscard]] TimePoint Now() const override { return TimePoint(queue_.now() + offset_); }

 private:
  const EventQueue& queue_;
  const Duration offset_;
};

class SimTimers final : public Timers {
 public:
  explicit SimTimers(EventQueue& queue) : queue_(queue) {}
  ~SimTimers() override;
  SimTimers(const SimTimers&) = delete;
  SimTimers& operator=(const SimTimers&) = delete;

  [[nodiscard]] TimerId After(Duration delay, std::function<void()> fire) override;
  void Cancel(TimerId id) override;
  // Timers that are due before `until` fire then.
  void Pause(Duration until) { paused_until_ = std::max(paused_until_, until); }

 private:
  struct Timer {
    std::function<void()> fire;
    EventId event;                 // none: it is not set
    std::uint32_t generation = 0;  // tells an id of an earlier use apart
  };
  void Schedule(std::uint32_t index, Duration when);
  void OnEvent(std::uint32_t index);

  EventQueue& queue_;
  Duration paused_until_{0};
  std::vector<Timer> timers_;
  std::vector<std::uint32_t> free_;
};

class SimEnv {
 public:
  // REQUIRES: `disk` belongs to `host`.
  SimEnv(EventQueue& queue, Network& network, HostId host, Disk& disk, LogRing& log, std::string name,
         std::uint64_t seed, Mount mount = {}, JobCosts job_costs = {});
  SimEnv(const SimEnv&) = delete;
  SimEnv& operator=(const SimEnv&) = delete;

  [[nodiscard]] Env& env() { return env_; }
  // The process stands still until `until`. The network holds the bytes that arrive for it.
  void Pause(Duration until) { timers_.Pause(until); }
  // The process of this Env dies: its disk calls are torn or dropped. Destroy the Env then.
  void ProcessCrash() { storage_.ProcessCrash(); }

 private:
  SeededRandom random_;
  SimClock clock_;
  SimTimers timers_;
  const std::unique_ptr<Transport> transport_;
  RingLog log_;
  SimStorage storage_;
  SimCompute compute_;
  HeapArena arena_;
  Env env_;
};

}  // namespace leeway::sim
