// Child: a forked process that runs one function, tells its parent one line, and never outlives it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "leeway/status.h"

namespace leeway::bench {

class Child {
 public:
  using Tell = std::function<void(const std::string& line)>;

  // Forks. `run` ends the child with its exit code; it calls `tell` once it is ready.
  // REQUIRES: the process has no other threads.
  explicit Child(const std::function<int(const Tell& tell)>& run);
  // Ends the child if it still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // The line that the child told. An error if it ended, or said nothing for 10 s.
  [[nodiscard]] Result<std::string> Hear();
  // Its exit code, 128 + n if signal n ended it; nothing while it runs. REQUIRES: said no code before.
  [[nodiscard]] std::optional<int> Ended();

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

}  // namespace leeway::bench
