// NodeThread: one RealEnv and the thread that runs its loop. A node lives on it.
//
// Build and destroy the node through Call, so that its calls come one at a time. Or destroy it after Stop,
// when the thread has ended.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "leeway/env.h"
#include "transport/real_env.h"

namespace leeway {

class NodeThread {
 public:
  // Starts the thread. REQUIRES: `log` outlives it.
  explicit NodeThread(Log& log, bool bind_any = false, Carrier carrier = Carrier::kAuto);
  ~NodeThread();  // stops
  NodeThread(const NodeThread&) = delete;
  NodeThread& operator=(const NodeThread&) = delete;

  [[nodiscard]] RealEnv& real() { return env_; }
  [[nodiscard]] Env& env() { return env_.env(); }
  // Runs `task` on the loop and waits for its end; runs it directly when called from the loop itself. False
  // if the loop has stopped, or has not reached the task within `limit`. The loop may then run it later, so
  // the task must own everything it uses.
  bool Call(std::function<void()> task, std::chrono::milliseconds limit = std::chrono::minutes(1));
  // Ends the loop after the current turn and joins. Tasks that have not begun never run. REQUIRES: not called
  // from the loop itself.
  void Stop();

 private:
  RealEnv env_;
  std::thread thread_;
};

}  // namespace leeway
