// SchedulerProcess: a scheduler over the real Env, on a thread of its own.
#pragma once

#include <memory>
#include <string>

#include "assembly/assembly.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

class SchedulerProcess {
 public:
  // Listens, and holds its log if it keeps one, before it returns. REQUIRES: `log` and `policies` outlive it.
  static Result<std::unique_ptr<SchedulerProcess>> Start(const SchedulerOptions& options,
                                                         const Policies& policies, Log& log);
  virtual ~SchedulerProcess() = default;
  [[nodiscard]] virtual const std::string& address() const = 0;
  // Thread rule: any thread.
  [[nodiscard]] virtual std::string StatusJson() = 0;
  // Starts a checkpoint now. Calls `done` once, on the scheduler's own thread: when the checkpoint is
  // complete or given up, or at once when none is possible. Never after the destructor.
  virtual void RequestCheckpoint(CheckpointRequests::Done done) = 0;
  // Ends the job; Wait then returns.
  virtual void Stop(const Status& why) = 0;
  // Waits until the job has ended, at most `limit` (kDeadlineExceeded then; may be called again).
  virtual Status Wait(std::chrono::milliseconds limit) = 0;
};

}  // namespace leeway
