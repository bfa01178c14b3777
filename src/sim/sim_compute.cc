#include "sim/sim_compute.h"

#include <utility>

namespace leeway::sim {
namespace {

// About the time in which another thread wakes up, does a little work and posts back.
constexpr Duration kJobMean = std::chrono::microseconds(20);

}  // namespace

void SimCompute::Run(std::function<void()> job, std::function<void()> done) {
  jobs_.push_back({std::move(job), std::move(done)});
  if (jobs_.size() == 1) StartNext();
}

void SimCompute::StartNext() {
  event_ = queue_.After(random_.Exponential(kJobMean), [this] { Finish(); });
}

void SimCompute::Finish() {
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  if (!jobs_.empty()) StartNext();
  job.run();
  job.run = nullptr;  // the job releases its captures before `done` may look
  job.done();         // last: it may end this process
}

}  // namespace leeway::sim
