#include "inspect/checkpoint_folder.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "base/errors.h"
#include "base/file_error.h"
#include "checkpoint/layout.h"
#include "inspect/open_file.h"
#include "system/text_file.h"

namespace leeway::app {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Storage::Entry>> List(const std::string& folder) {
  std::error_code error;
  std::vector<Storage::Entry> entries;
  fs::directory_iterator at(folder, error);
  if (error == std::errc::not_a_directory) {
    return InvalidArgument("{}: got a file, wanted a folder of checkpoints, or one of them", folder);
  }
  if (error) return FileError(error.value(), folder);
  for (; at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;  // what cannot be looked at is no folder
    entries.push_back({at->path().filename().string(), 0, at->is_directory(ignored)});
  }
  if (error) return FileError(error.value(), folder);
  return entries;
}

}  // namespace

Result<std::vector<CheckpointPath>> FindCheckpoints(const std::string& path) {
  LW_ASSIGN_OR_RETURN(const std::vector<Storage::Entry> entries, List(path));
  const std::string name = fs::path(path + "/").lexically_normal().parent_path().filename().string();
  if (IsComplete(entries) || CheckpointIdOf(name)) {
    return std::vector<CheckpointPath>{{CheckpointIdOf(name).value_or(0), path, IsComplete(entries)}};
  }
  std::vector<CheckpointPath> found;
  for (const std::uint64_t id : CheckpointIds(entries)) {
    const std::string own = JoinPath(path, CheckpointName(id));
    LW_ASSIGN_OR_RETURN(const std::vector<Storage::Entry> files, List(own));
    found.push_back({id, own, IsComplete(files)});
  }
  if (found.empty()) {
    return NotFound("{}: holds no checkpoint: no {}, and no folder such as {}", path, kManifestName,
                    CheckpointName(1));
  }
  return found;
}

Result<std::string> OneCheckpoint(const std::string& path) {
  LW_ASSIGN_OR_RETURN(const std::vector<CheckpointPath> found, FindCheckpoints(path));
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    if (at->complete) return at->path;
  }
  return NotFound("{}: has no complete checkpoint (one with a {})", path, kManifestName);
}

Result<Manifest> OpenManifest(const std::string& checkpoint) {
  const std::string path = JoinPath(checkpoint, kManifestName);
  LW_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  Result<Manifest> manifest = ReadManifest(text);
  if (!manifest.ok()) return manifest.status().WithContext(path);
  return manifest;
}

Result<BlockRecord> ReadRecord(const std::string& checkpoint, const Manifest& manifest,
                               const ManifestBlock& block) {
  const std::string path = JoinPath(checkpoint, manifest.files[block.file].name);
  LW_ASSIGN_OR_RETURN(OpenFile file, OpenFile::Open(path));
  LW_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, file.Read(block.record.offset, block.record.bytes));
  Result<BlockRecord> record = DecodeRecord(block.record, bytes, [](std::size_t elements, Arena::Use) {
    return std::make_shared<Buffer>(elements);
  });
  if (!record.ok()) return record.status().WithContext(path);
  if (record->id.elements != block.elements || record->id.offset != block.offset) {
    return InvalidArgument("{}: block {} at offset {}: got elements {} + {}, wanted {} + {}", path,
                           block.record.block.value(), block.record.offset, record->id.offset,
                           record->id.elements, block.offset, block.elements);
  }
  return record;
}

}  // namespace leeway::app
