// The commands of the program, one file each in this folder.
#pragma once

#include <memory>

#include "cli/command.h"
#include "system/environment.h"

namespace leeway::app {

// `program` outlives them.
[[nodiscard]] std::unique_ptr<Command> NewRunCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewSchedulerCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewServerCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewSimCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewTimelineCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewCheckpointLsCommand();
[[nodiscard]] std::unique_ptr<Command> NewCheckpointVerifyCommand();
[[nodiscard]] std::unique_ptr<Command> NewCheckpointDiffCommand();
[[nodiscard]] std::unique_ptr<Command> NewCheckpointExportCommand();
[[nodiscard]] std::unique_ptr<Command> NewCtlStatusCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewCtlCheckpointCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewCtlSetSyncCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewBenchPushPullCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchLatencyCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchScaleCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchMemoryCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchAllCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewBenchOptimizerCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchStepCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewBenchSimCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchPredictCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewBenchSyncCommand();
[[nodiscard]] std::unique_ptr<Command> NewBenchCheckpointCommand(const Program& program);
[[nodiscard]] std::unique_ptr<Command> NewBenchTrainCommand();
[[nodiscard]] std::unique_ptr<Command> NewVersionCommand();

}  // namespace leeway::app
