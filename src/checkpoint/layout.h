// Names within a folder of checkpoints, and the meaning of a listing of one.
//
//   <folder>/checkpoint-00000012/shard-000.lwc      one per shard
//                                rank-000.1.state   one per worker that gave one, by rank and incarnation
//                                manifest.json      last: a folder without it is no checkpoint
//            checkpoints.lock                        held by the scheduler of the job that writes here
//
// To write a checkpoint: Create and Sync every file; Create manifest.json.tmp and Sync it; SyncFolder the
// checkpoint's folder; Rename to manifest.json; SyncFolder it again, and SyncFolder <folder>. To remove one:
// Remove its manifest.json and SyncFolder first, then Remove the folder. So an interrupted removal leaves no
// checkpoint with parts missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/ids.h"
#include "leeway/storage.h"

namespace leeway {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kManifestTempName = "manifest.json.tmp";
inline constexpr std::string_view kCheckpointsLockName = "checkpoints.lock";
inline constexpr std::size_t kCheckpointsKept = 2;

[[nodiscard]] std::string CheckpointName(std::uint64_t checkpoint);  // "checkpoint-00000012"
[[nodiscard]] std::string ShardFileName(ShardId shard);              // "shard-000.lwc"
// "rank-000.1.state": a life never writes into the file of another life, which may still be writing.
[[nodiscard]] std::string RankFileName(WorkerId rank, Incarnation incarnation);
// "folder/name"; no second slash if the folder ends in one.
[[nodiscard]] std::string JoinPath(std::string_view folder, std::string_view name);
// The folder that `path` is in.
[[nodiscard]] std::string FolderOf(std::string path);
// Returns the id in a name that CheckpointName gave; nullopt for any other name.
[[nodiscard]] std::optional<std::uint64_t> CheckpointIdOf(std::string_view name);
// Returns whether a name can be a file's in a checkpoint: not empty, no slash, not "." or "..".
[[nodiscard]] bool IsPlainFileName(std::string_view name);

struct FoundCheckpoint {
  std::uint64_t id = 0;
  bool complete = false;  // has a manifest
  friend bool operator==(const FoundCheckpoint&, const FoundCheckpoint&) = default;
};

// Returns the ids of the folders in a listing of <folder> that have a checkpoint's name, ascending.
[[nodiscard]] std::vector<std::uint64_t> CheckpointIds(const std::vector<Storage::Entry>& folder);
// Whether a listing of a checkpoint's own folder has a manifest.
[[nodiscard]] bool IsComplete(const std::vector<Storage::Entry>& checkpoint_folder);

// Returns the newest complete checkpoint; nullopt if no checkpoint is complete.
[[nodiscard]] std::optional<std::uint64_t> NewestCheckpoint(const std::vector<FoundCheckpoint>& found);
// Returns an id above every present one, complete or not: no job writes into leftovers.
[[nodiscard]] std::uint64_t NextCheckpointId(const std::vector<std::uint64_t>& ids);
// Returns all complete ones but the newest `keep`, and incomplete ones older than the newest complete one,
// ascending. A newer incomplete one may be under way.
[[nodiscard]] std::vector<std::uint64_t> CheckpointsToRemove(const std::vector<FoundCheckpoint>& found,
                                                             std::size_t keep = kCheckpointsKept);

}  // namespace leeway
