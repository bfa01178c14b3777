#include "transport/loop/thread_compute.h"

#include <pthread.h>

#include <utility>

#include "transport/system/signals_blocked.h"

namespace leeway {

ThreadCompute::ThreadCompute(EventLoop& loop, std::string name) : loop_(loop), name_(std::move(name)) {
  if (sched_getaffinity(0, sizeof(cores_), &cores_) != 0) CPU_ZERO(&cores_);
}

ThreadCompute::~ThreadCompute() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ThreadCompute::Run(std::function<void()> job, std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(job), std::move(done)});
  }
  if (thread_.joinable()) {
    changed_.notify_one();
  } else {
    Start();
  }
}

void ThreadCompute::Start() {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] {
    // A thread begins where the one that made it may run, and that one may be kept on a core by now.
    if (CPU_COUNT(&cores_) > 0) sched_setaffinity(0, sizeof(cores_), &cores_);
    Work();
  });
  pthread_setname_np(thread_.native_handle(), name_.c_str());
}

void ThreadCompute::Work() {
  std::vector<Job> jobs;  // taken together: one lock for many
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    jobs.swap(waiting_);
    for (Job& job : jobs) {
      if (!ending_) {
        lock.unlock();
        job.run();
        lock.lock();
      }
      // One wake-up of the loop for all that finish before it looks.
      if (finished_.empty() && !ending_) loop_.Post([this] { Deliver(); });
      finished_.push_back(std::move(job));
    }
    jobs.clear();
    if (ending_) return;
  }
}

void ThreadCompute::Deliver() {
  std::vector<Job> finished;
  {
    const std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (Job& job : finished) {
    job.run = nullptr;  // what the job held is free before `done` may look
    job.done();
    job.done = nullptr;
  }
}

}  // namespace leeway
