#include "process/node_thread.h"

#include <pthread.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "transport/system/signals_blocked.h"

namespace leeway {

NodeThread::NodeThread(Log& log, bool bind_any, Carrier carrier) : env_(log, bind_any, carrier) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { env_.Run(); });
  pthread_setname_np(thread_.native_handle(), "leeway-node");
}

NodeThread::~NodeThread() { Stop(); }

bool NodeThread::Call(std::function<void()> task, std::chrono::milliseconds limit) {
  if (!thread_.joinable()) return false;
  if (env_.IsRunner()) {
    task();
    return true;
  }
  struct Outcome {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
  };
  const auto outcome = std::make_shared<Outcome>();  // shared: the task may outlive this call
  env_.Post([outcome, task = std::move(task)] {
    task();
    const std::lock_guard lock(outcome->mutex);
    outcome->done = true;
    outcome->changed.notify_all();
  });
  std::unique_lock lock(outcome->mutex);
  return outcome->changed.wait_for(lock, limit, [&] { return outcome->done; });
}

void NodeThread::Stop() {
  if (!thread_.joinable()) return;
  env_.Stop();
  thread_.join();
}

}  // namespace leeway
