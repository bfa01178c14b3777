// ThreadCompute: Compute on a thread of its own, which starts with the first job.
//
// Jobs run one after another in the order of Run. A job and its `done` are destroyed on the loop's thread (or
// where this object is), so what they captured is never let go on the other thread. The destructor waits for
// the job under way and drops the rest. The thread runs on the cores that the one which made this object
// might use then, also when the loop is kept on one core later. Thread rule: everything but the jobs on the
// loop's thread; the loop outlives this object and does not run after it.
#pragma once

#include <sched.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "leeway/storage.h"
#include "transport/loop/event_loop.h"

namespace leeway {

class ThreadCompute final : public Compute {
 public:
  // `name` is what tools show for the thread; the system takes 15 characters.
  ThreadCompute(EventLoop& loop, std::string name);
  ~ThreadCompute() override;
  ThreadCompute(const ThreadCompute&) = delete;
  ThreadCompute& operator=(const ThreadCompute&) = delete;

  void Run(std::function<void()> job, std::function<void()> done) override;

 private:
  struct Job {
    std::function<void()> run;
    std::function<void()> done;
  };
  void Start();
  void Work();
  void Deliver();

  EventLoop& loop_;
  const std::string name_;
  cpu_set_t cores_;  // where its thread may run; none: wherever the loop may
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;  // a job came, or the end
  bool ending_ = false;
  std::vector<Job> waiting_;
  std::vector<Job> finished_;
};

}  // namespace leeway
