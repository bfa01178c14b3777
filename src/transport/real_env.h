// RealEnv: the Env of the real world, over one Asio event loop on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "leeway/env.h"

namespace leeway {

class RealEnv {
 public:
  // `log` is shared by threads and must be thread-safe. `name` is put before this node's log lines. `seed` 0: from the system.
  RealEnv(Log& log, std::uint64_t seed = 0);
  ~RealEnv();
  RealEnv(const RealEnv&) = delete;
  RealEnv& operator=(const RealEnv&) = delete;

  [[nodiscard]] Env& env();
  // Runs the loop on the calling thread until Stop. All callbacks come from here.
  void Run();
  // From any thread: makes Run return after the current callback.
  void Stop();
  // From any thread: runs `task` on the loop.
  void Post(std::function<void()> task);
  // Watches a descriptor (an eventfd) and calls `ready` on the loop whenever it is readable. Owns nothing.
  void WatchReadable(int fd, std::function<void()> ready);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leeway
