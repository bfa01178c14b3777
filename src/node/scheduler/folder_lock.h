// FolderLock: makes a checkpoint folder one job's. The scheduler takes it before it names its first
// checkpoint, and has it until its process ends. Two jobs that wrote into one folder would remove each
// other's checkpoints.
//
// A scheduler that died may keep the lock for a moment after its successor has started. So FolderLock retries
// until `wait` has passed. Thread rule: that of Env. May go before its Env.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leeway/env.h"
#include "leeway/status.h"

namespace leeway {

class FolderLock {
 public:
  using Done = std::function<void(const Status&)>;
  // Borrows env.
  FolderLock(Env& env, Duration wait) : env_(env), wait_(wait) {}
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Takes the lock of this folder. An error names the folder, the process that holds it, and a remedy. On a
  // file system without locks it logs that, and the answer is ok. To be called once.
  void Take(const std::string& folder, Done done);
  [[nodiscard]] bool taken() const { return taken_; }
  // An error if another job has this folder now: that job may remove the checkpoints in it.
  void CheckNobodyWrites(const std::string& folder, Done done);

 private:
  void Ask(const std::string& folder, TimePoint until, const Done& done);
  void Answer(const std::string& folder, const Status& status, const Done& done);
  [[nodiscard]] Done IfHere(Done then);

  Env& env_;
  const Duration wait_;
  const std::shared_ptr<bool> here_ =
      std::make_shared<bool>(true);  // shared: with callbacks, which outlive this
  bool taken_ = false;
  TimerId retry_timer_;
};

}  // namespace leeway
