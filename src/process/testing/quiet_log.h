// QuietLog: keeps the lines of several threads for a test to read.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "leeway/env.h"

namespace leeway::testing {

class QuietLog final : public Log {
 public:
  void Write(LogLevel, std::string_view line) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(line);
  }
  // All lines, for the message of a failure.
  [[nodiscard]] std::string Text() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace leeway::testing
