// Checkpoints on disk, as the program looks at them: which are in a folder, and one that is open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/block_record.h"
#include "checkpoint/manifest.h"
#include "leeway/status.h"

namespace leeway::app {

struct CheckpointPath {
  std::uint64_t id = 0;
  std::string path;
  bool complete = false;  // has a manifest
};

// The checkpoints in a folder, by id, or the one that `path` itself is. kNotFound: the folder has no
// checkpoint.
[[nodiscard]] Result<std::vector<CheckpointPath>> FindCheckpoints(const std::string& path);
// The one that `path` is, or the newest complete one in it.
[[nodiscard]] Result<std::string> OneCheckpoint(const std::string& path);

[[nodiscard]] Result<Manifest> OpenManifest(const std::string& checkpoint);
// Of one block, checked against the manifest.
[[nodiscard]] Result<BlockRecord> ReadRecord(const std::string& checkpoint, const Manifest& manifest,
                                             const ManifestBlock& block);

}  // namespace leeway::app
