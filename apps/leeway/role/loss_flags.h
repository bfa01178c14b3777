// Flags for what a job does when a worker or a server dies.
#pragma once

#include <string>

#include "cli/flag_set.h"
#include "leeway/options.h"

namespace leeway::app {

// --min-workers, --on-worker-loss: of `run` and `scheduler`.
void DeclareLossFlags(FlagSet& flags, SchedulerOptions& options, std::string& on_worker_loss);
// Fills options.on_worker_loss, and compares --min-workers with --workers.
[[nodiscard]] Status TakeLossFlags(const std::string& on_worker_loss, SchedulerOptions& options);

// --on-server-loss of `scheduler`; that of `run` knows one more word.
void DeclareServerLossFlag(FlagSet& flags, std::string& on_server_loss);

// "shrink", "wait", "fail".
[[nodiscard]] Result<OnWorkerLoss> ParseOnWorkerLoss(const std::string& text);
[[nodiscard]] const char* NameOf(OnWorkerLoss what);
// "patch", "fail".
[[nodiscard]] Result<OnServerLoss> ParseOnServerLoss(const std::string& text);
[[nodiscard]] const char* NameOf(OnServerLoss what);

}  // namespace leeway::app
