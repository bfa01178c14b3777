// CheckpointFolder: what a scheduler does with folders before its job begins: takes the job's own folder,
// reads the checkpoint to begin from, and finds the number of the next one.
//
// Thread rule: that of Env. Lives as long as its calls are under way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "checkpoint/manifest.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/checkpoint_files.h"
#include "node/scheduler/folder_lock.h"

namespace leeway {

class CheckpointFolder {
 public:
  // Each is called at most once, and none after Stop.
  struct Steps {
    std::function<Status(const Manifest&)> resume;             // begins from this checkpoint
    std::function<void(const Result<std::uint64_t>&)> number;  // of the next checkpoint
    std::function<void()> ready;
    std::function<void(const Status&)> failed;  // nothing follows
  };

  // Borrows env.
  CheckpointFolder(Env& env, const CheckpointOptions& options)
      : options_(options), files_(env.storage, env.log), lock_(env, options.lock_wait) {}

  // Takes the steps that the options ask for. A job that goes on from its log does not `resume` again. To be
  // called once.
  void Open(bool resume, Steps steps);
  // This process may write into the folder.
  [[nodiscard]] bool taken() const { return lock_.taken(); }
  // The job is over.
  void Stop() { stopped_ = true; }

 private:
  void CheckResume();
  void ReadResume();
  void FindNext();

  const CheckpointOptions options_;
  CheckpointFiles files_;
  FolderLock lock_;
  Steps steps_;
  bool resume_ = false;
  bool stopped_ = false;
};

}  // namespace leeway
