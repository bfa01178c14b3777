// Flags for what a job does when a worker dies, shared by `run` and `scheduler`.
#pragma once

#include <string>

#include "cli/flag_set.h"
#include "leeway/options.h"

namespace leeway::app {

// --min-workers, --on-worker-loss.
void DeclareLossFlags(FlagSet& flags, SchedulerOptions& options, std::string& on_worker_loss);
// Fills options.on_worker_loss, and compares --min-workers with --workers.
[[nodiscard]] Status TakeLossFlags(const std::string& on_worker_loss, SchedulerOptions& options);

// "shrink", "wait", "fail".
[[nodiscard]] Result<OnWorkerLoss> ParseOnWorkerLoss(const std::string& text);
[[nodiscard]] const char* NameOf(OnWorkerLoss what);

}  // namespace leeway::app
