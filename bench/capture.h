// Capture: what a function prints to stdout in a process of its own.
#pragma once

#include <functional>
#include <string>

#include "leeway/status.h"

namespace leeway::bench {

struct Captured {
  int exit_code = 0;  // 128 + n if signal n ended it
  std::string out;
};

// Runs it to its end in a forked process, which does not outlive this one; stderr stays what it is.
// REQUIRES: the process has no other threads.
[[nodiscard]] Result<Captured> Capture(const std::function<int()>& run);

}  // namespace leeway::bench
