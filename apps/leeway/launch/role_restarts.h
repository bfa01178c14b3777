// RoleRestarts: whether a server or scheduler that died is started again, and after which pause. Pure state.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "launch/job_processes.h"

namespace leeway::app {

struct RoleRestartOptions {
  std::uint32_t servers = 100;    // restarts of all servers together
  std::uint32_t scheduler = 100;  // of the scheduler
  // Before the first restart of a process; twice as long before each one after it, up to the most.
  std::chrono::milliseconds back_off{200};
  std::chrono::milliseconds back_off_max{5'000};
  // One that had lived this long counts as the first again.
  std::chrono::milliseconds steady{5'000};
  std::uint32_t quick_max = 8;  // one that dies so often in a row before that is broken
};

class RoleRestarts {
 public:
  explicit RoleRestarts(const RoleRestartOptions& options) : options_(options) {}

  struct Next {
    std::chrono::milliseconds back_off{0};
    std::string why;  // "restart 3 of 100"
  };
  // Counts one more restart of a process that had lived this long. Nothing when none is left: `why_not` says
  // so, unless there were none from the start.
  [[nodiscard]] std::optional<Next> Take(JobRole role, std::uint32_t index, std::chrono::milliseconds lived,
                                         std::string& why_not);

 private:
  struct History {
    std::chrono::milliseconds back_off{0};  // the last one
    std::uint32_t quick = 0;                // deaths in a row that came too soon
  };

  const RoleRestartOptions options_;
  std::map<JobRole, std::uint32_t> taken_;
  std::map<std::pair<JobRole, std::uint32_t>, History> histories_;
};

}  // namespace leeway::app
