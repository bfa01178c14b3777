#include "sim/workloads/newest_checkpoint.h"

#include <vector>

#include "checkpoint/layout.h"

namespace leeway::sim {

std::string NewestOn(const Disk& disk, const std::string& folder) {
  const auto listed = disk.List(folder);
  if (!listed.ok()) return "";
  std::vector<FoundCheckpoint> found;
  for (const std::uint64_t id : CheckpointIds(*listed)) {
    const auto files = disk.List(JoinPath(folder, CheckpointName(id)));
    found.push_back({id, files.ok() && IsComplete(*files)});
  }
  const auto newest = NewestCheckpoint(found);
  return newest ? JoinPath(folder, CheckpointName(*newest)) : "";
}

}  // namespace leeway::sim
