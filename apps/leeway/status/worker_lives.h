// WorkerLives: what became of each worker process of a launch, and whether one that ended is started again.
//
// An exit code of 1 to 127 is the script's own error: trying again changes nothing. A signal or a code of 128
// and above is a loss: the process died, or found its job out of reach, and the next life may do better. Pure
// state, told of events by the launcher. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "system/child_process.h"

namespace leeway::app {

enum class LifeBegan : std::uint8_t {
  kStart,
  kRestart,  // after a loss, counted
  kRejoin,   // after it was fenced, not counted
};
enum class LifeEnd : std::uint8_t {
  kRunning,
  kDone,    // exit code 0
  kFailed,  // 1 to 127
  kLost,    // a signal, or 128 and above
  kAsked,   // the launcher had asked it to end
  kLate,    // a later life that came when the job was over
};
// "start", "restart", "rejoin"; "running", "done", ...
[[nodiscard]] const char* NameOf(LifeBegan began);
[[nodiscard]] const char* NameOf(LifeEnd end);

struct Life {
  LifeBegan began = LifeBegan::kStart;
  LifeEnd end = LifeEnd::kRunning;
  ProcessEnd how;
};

struct RestartOptions {
  std::uint32_t restarts = 0;  // of all workers together
  bool rejoin = false;         // one that was fenced is started again, uncounted
  // Before a worker's second life; twice as long before each one after it, up to the most.
  std::chrono::milliseconds back_off{500};
  std::chrono::milliseconds back_off_max{10'000};
};

class WorkerLives {
 public:
  WorkerLives() = default;
  WorkerLives(std::uint32_t workers, RestartOptions options) : options_(options), workers_(workers) {}

  struct NextLife {
    LifeBegan began = LifeBegan::kRestart;
    std::chrono::milliseconds back_off{0};
    std::string why;  // "restart 1 of 3"
  };

  void Start(std::uint32_t rank, LifeBegan began) {
    workers_[rank].push_back({began, LifeEnd::kRunning, {}});
  }
  // Its newest life has ended. `asked`: the launcher is ending the job.
  LifeEnd End(std::uint32_t rank, const ProcessEnd& how, bool asked);
  // It came too late: neither an error nor a loss.
  void MarkLate(std::uint32_t rank) { workers_[rank].back().end = LifeEnd::kLate; }
  // Whether one that was lost has another life, which is then counted. REQUIRES: its newest life was lost.
  [[nodiscard]] bool TakeNext(std::uint32_t rank, NextLife& next);

  [[nodiscard]] const std::vector<std::vector<Life>>& workers() const { return workers_; }
  // Lives before the newest one: what the worker is told.
  [[nodiscard]] std::size_t RestartsOf(std::uint32_t rank) const;
  [[nodiscard]] std::size_t Count(std::uint32_t rank, LifeBegan began) const;
  // Workers whose newest life has come to this.
  [[nodiscard]] std::size_t CountNow(LifeEnd end) const;
  // Whether there is more to tell than that all ended well.
  [[nodiscard]] bool Eventful() const;

 private:
  RestartOptions options_;
  std::vector<std::vector<Life>> workers_;  // by rank
  std::uint32_t restarted_ = 0;
};

}  // namespace leeway::app
