// CheckpointFiles: the files of checkpoints, as the scheduler uses them. Finds the next number, publishes the
// manifest, removes old checkpoints, and reads the checkpoint to begin from. Each is a chain of calls to
// Storage.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "leeway/env.h"
#include "leeway/status.h"

namespace leeway {

class CheckpointFiles {
 public:
  using Done = std::function<void(const Status&)>;
  // Borrows both. Chains that are under way end with them.
  CheckpointFiles(Storage& storage, Log& log) : storage_(storage), log_(log) {}

  // The id of the next checkpoint in this folder, which need not be there yet.
  void FindNext(const std::string& folder, std::function<void(Result<std::uint64_t>)> done);
  // Writes the manifest, once all files of the checkpoint are written, synced and here. Asks `wanted` before
  // each step: after a no it writes nothing into the folder, which was discarded, and does not call `done`.
  using Wanted = std::function<bool()>;
  void Publish(const std::string& folder, const Manifest& manifest, Wanted wanted, Done done);
  // Leaves the newest `keep` whole checkpoints. Logs failures.
  void Prune(const std::string& folder, std::size_t keep);
  void Discard(const std::string& checkpoint);
  void Read(const std::string& checkpoint, std::function<void(Result<Manifest>)> done);

 private:
  struct Pruning;
  void WriteAndRename(const std::string& folder, const std::string& checkpoint, const Manifest& manifest,
                      Wanted wanted, Done done);
  void PruneNext(std::shared_ptr<Pruning> pruning);
  void Warn(const std::string& what, const Status& why);

  Storage& storage_;
  Log& log_;
};

}  // namespace leeway
