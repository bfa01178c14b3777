// Flags for checkpoints, shared by `run` and `scheduler`.
#pragma once

#include <string>
#include <string_view>

#include "cli/flag_set.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway::app {

// --checkpoint-dir, --checkpoint-every, --checkpoint-time, --checkpoint-keep, --resume.
void DeclareCheckpointFlags(FlagSet& flags, CheckpointOptions& options);
// --grace.
void DeclareGraceFlag(FlagSet& flags, std::chrono::milliseconds& grace);
// The absolute path of a file or folder that a user gave by `flag`, which need not be there: if it is a link,
// that of what the link leads to. Files of a job are opened without following links (leeway/storage.h), so
// the user's own is followed here, once. Links further up in the path stay: another machine may have others.
[[nodiscard]] Result<std::string> ResolveLink(std::string_view flag, const std::string& path);
// Whether they go together. Resolves the folder and makes sure that it is there; a new one is its owner's
// alone.
[[nodiscard]] Status TakeCheckpointFlags(CheckpointOptions& options);
// Turns a folder of checkpoints in options.resume into its newest good one, every byte looked at; a bad one
// is named by `say` and passed over. A checkpoint that is named itself must be good.
[[nodiscard]] Status ChooseResume(CheckpointOptions& options,
                                  const std::function<void(const std::string&)>& say);

}  // namespace leeway::app
