// SimCompute: the Compute of one simulated process. A job runs inline, as an event of its own, some random
// time after the previous one. By default this is all the time that a job takes; JobCosts adds more.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "leeway/storage.h"
#include "sim/event_queue.h"
#include "sim/seeded_random.h"

namespace leeway::sim {

// The simulated time of jobs, beside the time in which another thread wakes up.
struct JobCosts {
  Duration per_job{0};
  double encode_ns_per_byte = 0, decode_ns_per_byte = 0;  // of the values
  // Does so much work on cores that other threads use too, then calls `done`. Empty: the jobs of a process
  // have a core of their own.
  std::function<void(Duration work, std::function<void()> done)> on_cores = {};
};

class SimCompute final : public Compute {
 public:
  SimCompute(EventQueue& queue, std::uint64_t seed, JobCosts costs = {})
      : queue_(queue), random_(seed), costs_(std::move(costs)) {}
  ~SimCompute() override { queue_.Cancel(event_); }
  SimCompute(const SimCompute&) = delete;
  SimCompute& operator=(const SimCompute&) = delete;

  void Run(std::function<void()> job, std::function<void()> done) override;
  void RunSized(const JobSize& size, std::function<void()> job, std::function<void()> done) override;

 private:
  struct Job {
    Duration takes;
    std::function<void()> run;
    std::function<void()> done;
  };
  void Add(Job job);
  void StartNext();
  void Finish();

  EventQueue& queue_;
  SeededRandom random_;
  const JobCosts costs_;
  std::deque<Job> jobs_;                                   // the first one is under way
  EventId event_;                                          // its end
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // shared cores may outlive this object
};

}  // namespace leeway::sim
