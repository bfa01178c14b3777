// LocalJob: a whole job's scheduler and one server inside this process, for a script that runs alone.
#pragma once

#include <memory>
#include <string>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

class LocalJob {
 public:
  // One worker, one server, on loopback; `log` outlives it.
  static Result<std::unique_ptr<LocalJob>> Start(const JobOptions& job, Log& log);
  virtual ~LocalJob() = default;  // ends the job
  [[nodiscard]] virtual const std::string& scheduler() const = 0;
};

}  // namespace leeway
