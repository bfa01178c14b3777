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
  // One worker, one server, with a secret of its own. No port is opened, unless `transport` is "tcp". `log`
  // outlives it.
  static Result<std::unique_ptr<LocalJob>> Start(const JobOptions& job, Log& log,
                                                 const std::string& transport = "auto");
  virtual ~LocalJob() = default;  // ends the job
  [[nodiscard]] virtual const std::string& scheduler() const = 0;
  // For LinkOptions::secret of the worker.
  [[nodiscard]] virtual const std::string& secret() const = 0;
};

}  // namespace leeway
