#include "sim/log_ring.h"

#include <fmt/format.h>

namespace leeway::sim {

void LogRing::Write(const std::string& who, LogLevel level, std::string_view line) {
  static constexpr char kLetters[] = {'D', 'I', 'W', 'E'};
  if (lines_.size() == lines_max_) lines_.pop_front();
  const double ms = std::chrono::duration<double, std::milli>(queue_.now()).count();
  lines_.push_back(
      fmt::format("{:10.3f} ms {} {}: {}", ms, kLetters[static_cast<std::size_t>(level)], who, line));
}

}  // namespace leeway::sim
