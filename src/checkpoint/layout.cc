#include "checkpoint/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_from.h"

namespace leeway {
namespace {

constexpr std::string_view kCheckpointPrefix = "checkpoint-";

}  // namespace

std::string CheckpointName(std::uint64_t checkpoint) {
  return fmt::format("{}{:08}", kCheckpointPrefix, checkpoint);
}
std::string ShardFileName(ShardId shard) { return fmt::format("shard-{:03}.lwc", shard.value()); }
std::string RankFileName(WorkerId rank, Incarnation incarnation) {
  return fmt::format("rank-{:03}.{}.state", rank.value(), incarnation.value());
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.empty() || folder.ends_with('/') ? "" : "/", name);
}

std::string FolderOf(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::uint64_t> CheckpointIdOf(std::string_view name) {
  if (!name.starts_with(kCheckpointPrefix)) return std::nullopt;
  const auto id = NumberFrom<std::uint64_t>(name.substr(kCheckpointPrefix.size()));
  // Every id has one name: "checkpoint-12" and "checkpoint-000000012" are not ours.
  if (!id || CheckpointName(*id) != name) return std::nullopt;
  return id;
}

bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::vector<std::uint64_t> CheckpointIds(const std::vector<Storage::Entry>& folder) {
  std::vector<std::uint64_t> ids;
  for (const Storage::Entry& entry : folder) {
    const std::optional<std::uint64_t> id = CheckpointIdOf(entry.name);
    if (entry.folder && id) ids.push_back(*id);
  }
  std::ranges::sort(ids);
  return ids;
}

bool IsComplete(const std::vector<Storage::Entry>& checkpoint_folder) {
  return std::ranges::any_of(checkpoint_folder, [](const Storage::Entry& entry) {
    return entry.name == kManifestName && !entry.folder;
  });
}

std::optional<std::uint64_t> NewestCheckpoint(const std::vector<FoundCheckpoint>& found) {
  std::optional<std::uint64_t> newest;
  for (const FoundCheckpoint& checkpoint : found) {
    if (checkpoint.complete) newest = std::max(newest.value_or(0), checkpoint.id);
  }
  return newest;
}

std::uint64_t NextCheckpointId(const std::vector<std::uint64_t>& ids) {
  return ids.empty() ? 1 : std::ranges::max(ids) + 1;
}

std::vector<std::uint64_t> CheckpointsToRemove(const std::vector<FoundCheckpoint>& found, std::size_t keep) {
  std::vector<std::uint64_t> complete, remove;
  for (const FoundCheckpoint& checkpoint : found) {
    if (checkpoint.complete) complete.push_back(checkpoint.id);
  }
  std::ranges::sort(complete);
  const std::optional<std::uint64_t> newest = NewestCheckpoint(found);
  for (const FoundCheckpoint& checkpoint : found) {
    if (!checkpoint.complete && newest && checkpoint.id < *newest) remove.push_back(checkpoint.id);
  }
  if (complete.size() > keep) {
    remove.insert(remove.end(), complete.begin(), complete.end() - static_cast<std::ptrdiff_t>(keep));
  }
  std::ranges::sort(remove);
  return remove;
}

}  // namespace leeway
