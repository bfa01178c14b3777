// JobEvents: what happened to a job besides training, in order: losses, restarts, checkpoints that were asked
// for. For the summary. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leeway::app {

enum class EventKind : std::uint8_t {
  kLost,        // a process ended that should not have
  kRestart,     // it was started again
  kRollback,    // all went back to a checkpoint
  kCheckpoint,  // one that was asked for is whole
  kAsked,       // a signal asked for something
};
// "lost", "restart", ...
[[nodiscard]] const char* NameOf(EventKind kind);

struct JobEvent {
  double at_s = 0;  // since the launch
  EventKind kind = EventKind::kLost;
  std::string who;   // "server 1"
  std::string what;  // "ended with exit code 137 (signal 9, Killed)"
};

class JobEvents {
 public:
  void Add(EventKind kind, std::string who, std::string what);
  // The oldest kMax; what came after them is only counted.
  [[nodiscard]] const std::vector<JobEvent>& all() const { return events_; }
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

  static constexpr std::size_t kMax = 1000;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<JobEvent> events_;
  std::size_t left_out_ = 0;
};

}  // namespace leeway::app
