// SimCompute: the Compute of one simulated process. A job runs inline, as an event of its own, some random
// time after the previous one; its cost is not modelled.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "leeway/storage.h"
#include "sim/event_queue.h"
#include "sim/seeded_random.h"

namespace leeway::sim {

class SimCompute final : public Compute {
 public:
  SimCompute(EventQueue& queue, std::uint64_t seed) : queue_(queue), random_(seed) {}
  ~SimCompute() override { queue_.Cancel(event_); }
  SimCompute(const SimCompute&) = delete;
  SimCompute& operator=(const SimCompute&) = delete;

  void Run(std::function<void()> job, std::function<void()> done) override;

 private:
  struct Job {
    std::function<void()> run;
    std::function<void()> done;
  };
  void StartNext();
  void Finish();

  EventQueue& queue_;
  SeededRandom random_;
  std::deque<Job> jobs_;  // the first one is under way
  EventId event_;         // its end
};

}  // namespace leeway::sim
