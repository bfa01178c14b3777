// LocalJob: the scheduler and the only server of a job inside this process, for a script that runs alone.
#pragma once

#include <memory>
#include <string>

#include "assembly/policies.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

class LocalJob {
 public:
  // One worker, one server, with a secret of its own. It opens no port, unless `transport` is "tcp".
  // REQUIRES: `log` outlives it.
  static Result<std::unique_ptr<LocalJob>> Start(const JobOptions& job, Log& log,
                                                 const std::string& transport = "auto",
                                                 const Policies& policies = Policies::Builtin());
  virtual ~LocalJob() = default;  // ends the job
  [[nodiscard]] virtual const std::string& scheduler() const = 0;
  // For the worker's LinkOptions::secret.
  [[nodiscard]] virtual const std::string& secret() const = 0;
};

}  // namespace leeway
