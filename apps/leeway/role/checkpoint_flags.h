// Flags for checkpoints, shared by `run` and `scheduler`.
#pragma once

#include "cli/flag_set.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

// --checkpoint-dir, --checkpoint-every, --checkpoint-time, --checkpoint-keep, --resume.
void DeclareCheckpointFlags(FlagSet& flags, CheckpointOptions& options);
// --grace.
void DeclareGraceFlag(FlagSet& flags, std::chrono::milliseconds& grace);
// Whether they go together. Makes the folder absolute and makes sure that it is there.
[[nodiscard]] Status TakeCheckpointFlags(CheckpointOptions& options);
// Turns a folder of checkpoints in options.resume into its newest good one, every byte looked at; a bad one
// is named by `say` and passed over. A checkpoint that is named itself must be good.
[[nodiscard]] Status ChooseResume(CheckpointOptions& options,
                                  const std::function<void(const std::string&)>& say);

}  // namespace leeway::app
