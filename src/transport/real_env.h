// RealEnv: the Env of the real world, over one event loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "leeway/env.h"
#include "transport/stream/carrier.h"

namespace leeway {

struct StreamOptions;

class RealEnv {
 public:
  // `log` is shared by threads and must be thread-safe. Listening anywhere but on loopback is refused unless
  // `allow_non_loopback` (the program's flag --bind-any).
  explicit RealEnv(Log& log, bool allow_non_loopback = false, Carrier carrier = Carrier::kAuto);
  // With every limit of the transport given (src/transport/stream/stream_options.h).
  RealEnv(Log& log, const StreamOptions& options);
  ~RealEnv();
  RealEnv(const RealEnv&) = delete;
  RealEnv& operator=(const RealEnv&) = delete;

  [[nodiscard]] Env& env();
  // Runs the loop on the calling thread until Stop. All callbacks come from here.
  void Run();
  // Runs the callbacks that are due, waiting at most `wait` for the first; true if any ran. For tests that
  // hold several Envs on one thread.
  bool RunOnce(Duration wait);
  // From any thread: whether the calling thread is in Run.
  [[nodiscard]] bool IsRunner() const;
  // From any thread: makes Run return after the current callback.
  void Stop();
  // From any thread: runs `task` on the loop.
  void Post(std::function<void()> task);
  // As in EventLoop. On the loop, or before Run.
  void SetPassEnd(std::function<void()> hook);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leeway
