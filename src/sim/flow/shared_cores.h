// SharedCores: the processor of one host, which all that computes on it shares: everyone gets the same, and
// nobody more than one core. What an operating system does in slices, without the slices.
//
// One thread, that of the world. Goes after everything that works on it.
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
  // Borrows `queue`. `cores` may be a fraction: others on the host have the rest.
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

// One thread on shared cores: works one thing after the other, in order. What is left when it goes is never
// done.
class WorkLine {
 public:
  explicit WorkLine(SharedCores& cores) : state_(std::make_shared<State>(State{.cores = &cores})) {}
  ~WorkLine() { state_->gone = true; }
  WorkLine(const WorkLine&) = delete;
  WorkLine& operator=(const WorkLine&) = delete;

  void Add(Duration work, std::function<void()> done);

 private:
  struct State {
    SharedCores* cores;
    bool busy = false, gone = false;
    std::deque<std::pair<Duration, std::function<void()>>> left = {};
  };
  static void Next(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;  // shared: by what runs on the cores when this goes
};

}  // namespace leeway::sim
