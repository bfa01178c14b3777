// CheckpointFiles: what the scheduler does with the files of checkpoints: finds where to go on counting,
// publishes the manifest, removes what is old, and reads the one to begin from. Each a chain of calls to
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
  // Borrows both; what is under way ends with them.
  CheckpointFiles(Storage& storage, Log& log) : storage_(storage), log_(log) {}

  // The id of the next checkpoint in this folder, which need not be there yet.
  void FindNext(const std::string& folder, std::function<void(Result<std::uint64_t>)> done);
  // All files of the checkpoint are written and synced, and here: the manifest makes it one. `wanted` is
  // asked before each step: once it says no, nothing is written any more (into a folder that was discarded),
  // and `done` is not called.
  using Wanted = std::function<bool()>;
  void Publish(const std::string& folder, const Manifest& manifest, Wanted wanted, Done done);
  // Leaves the newest `keep` whole ones. What fails is logged.
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
