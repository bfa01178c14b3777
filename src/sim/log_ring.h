// LogRing: keeps the last lines of a world's nodes, for the report of a failure.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/env.h"
#include "sim/event_queue.h"

namespace leeway::sim {

class LogRing {
 public:
  explicit LogRing(const EventQueue& queue, std::size_t lines_max = 200)
      : queue_(queue), lines_max_(lines_max) {}
  void Write(const std::string& who, LogLevel level, std::string_view line);
  [[nodiscard]] std::vector<std::string> Lines() const { return {lines_.begin(), lines_.end()}; }

 private:
  const EventQueue& queue_;
  const std::size_t lines_max_;
  std::deque<std::string> lines_;
};

// The log of one node, writing to the world's ring.
class RingLog final : public Log {
 public:
  RingLog(LogRing& ring, std::string who) : ring_(ring), who_(std::move(who)) {}
  void Write(LogLevel level, std::string_view line) override { ring_.Write(who_, level, line); }

 private:
  LogRing& ring_;
  const std::string who_;
};

}  // namespace leeway::sim
