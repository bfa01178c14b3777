// Flags for what a job does when a worker or a server dies.
#pragma once

#include "cli/flag_set.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

// --min-workers, --wait-max, --on-worker-loss: of `run` and `scheduler`.
void DeclareLossFlags(FlagSet& flags, SchedulerOptions& options);
// Compares --min-workers with --workers.
[[nodiscard]] Status CheckLossFlags(const SchedulerOptions& options);

// --on-server-loss of `scheduler`; that of `run` knows one more word.
void DeclareServerLossFlag(FlagSet& flags, OnServerLoss& on_server_loss);

// The words of these flags: "shrink", "wait", "fail"; "patch", "fail".
[[nodiscard]] const char* NameOf(OnWorkerLoss what);
[[nodiscard]] const char* NameOf(OnServerLoss what);

}  // namespace leeway::app
