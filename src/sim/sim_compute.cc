#include "sim/sim_compute.h"

#include <utility>

#include "sim/nanoseconds.h"

namespace leeway::sim {
namespace {

// About the time in which another thread wakes up, does a little work and posts back.
constexpr Duration kJobMean = std::chrono::microseconds(20);

}  // namespace

void SimCompute::Run(std::function<void()> job, std::function<void()> done) {
  Add({costs_.per_job, std::move(job), std::move(done)});
}

void SimCompute::RunSized(const JobSize& size, std::function<void()> job, std::function<void()> done) {
  const bool encodes = size.kind == JobSize::Kind::kEncode;
  const double per_byte = encodes ? costs_.encode_ns_per_byte : costs_.decode_ns_per_byte;
  const Duration takes = costs_.per_job + Nanoseconds(static_cast<double>(size.bytes) * per_byte);
  Add({takes, std::move(job), std::move(done)});
}

void SimCompute::Add(Job job) {
  jobs_.push_back(std::move(job));
  if (jobs_.size() == 1) StartNext();
}

void SimCompute::StartNext() {
  const Duration wakes = random_.Exponential(kJobMean);
  const Duration takes = jobs_.front().takes;
  if (takes == Duration::zero() || !costs_.on_cores) {
    event_ = queue_.After(wakes + takes, [this] { Finish(); });
    return;
  }
  event_ = queue_.After(wakes, [this, takes] {
    costs_.on_cores(takes, [this, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) Finish();
    });
  });
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
