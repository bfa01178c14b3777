// Guard: a small process that outlives its launcher by a moment and clears up after it, however the launcher
// ended.
//
// Killing the launcher with -9 runs none of its code. The guard holds the other end of a pipe: when that
// closes it kills the process groups that were still on its list and removes the launcher's folder. REQUIRES:
// started before any thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway::app {

class Guard {
 public:
  static Result<Guard> Start(const std::string& folder);
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  ~Guard();  // lets it clear up, and waits for that

  // A group to kill when the launcher is gone. Take it off before its leader is reaped: the number may be
  // reused then.
  void Watch(pid_t group) const;
  void Forget(pid_t group) const;

 private:
  Guard(pid_t pid, Descriptor pipe) : pid_(pid), pipe_(std::move(pipe)) {}
  void Tell(pid_t signed_group) const;

  pid_t pid_ = -1;
  Descriptor pipe_;
};

}  // namespace leeway::app
