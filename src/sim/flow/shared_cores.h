// SharedCores: the processor of one host, shared by all threads that compute on it. Each thread gets an equal
// share, and at most one core: an operating system's time slices in the limit of short slices.
//
// Thread rule: the world's thread. Lifetime rule: it outlives every WorkLine on it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "leeway/env.h"
#include "sim/event_queue.h"
#include "sim/flow/shared_link.h"

namespace leeway::sim {

class SharedCores {
 public:
  // Borrows `queue`. `cores` may be a fraction: other processes on the host have the rest.
  SharedCores(EventQueue& queue, double cores);

  // Calls `done` when so much work has been done, all on one core at a time.
  void Run(Duration work, std::function<void()> done);
  [[nodiscard]] std::size_t running() const { return running_.size(); }

 private:
  void Watch();
  void Look();

  EventQueue& queue_;
  SharedLink time_;                       // whose bytes are nanoseconds
  Duration looked_at_ = Duration::max();  // next
  std::uint32_t next_ = 0;
  std::unordered_map<std::uint32_t, std::function<void()>> running_;
};

// One thread on shared cores: works one job after the other, in order. Destroying it drops the unfinished
// jobs.
class WorkLine {
 public:
  explicit WorkLine(SharedCores& cores) : state_(std::make_shared<State>(State{.cores = &cores})) {}
  ~WorkLine() { state_->gone = true; }
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  void Add(Duration work, std::function<void()> done);
  // The work of all jobs that have not ended.
  [[nodiscard]] Duration undone() const { return state_->undone; }

 private:
  struct State {
    SharedCores* cores;
    Duration undone{0};
    bool busy = false, gone = false;
    std::deque<std::pair<Duration, std::function<void()>>> left = {};
  };
  static void Next(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // shared: by the job that runs on the cores when this is destroyed
};

}  // namespace leeway::sim
