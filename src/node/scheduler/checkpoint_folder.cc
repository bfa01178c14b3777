#include "node/scheduler/checkpoint_folder.h"

#include <utility>

namespace leeway {

void CheckpointFolder::Open(bool resume, Steps steps) {
  steps_ = std::move(steps);
  resume_ = resume && !options_.resume.empty();
  if (options_.folder.empty()) return CheckResume();
  lock_.Take(options_.folder, [this](const Status& locked) {
    if (stopped_) return;
    if (!locked.ok()) return steps_.failed(locked);
    CheckResume();
  });
}

void CheckpointFolder::CheckResume() {
  if (!resume_) return FindNext();
  lock_.CheckNobodyWrites(FolderOf(options_.resume), [this](const Status& unlocked) {
    if (stopped_) return;
    if (!unlocked.ok()) return steps_.failed(unlocked.WithContext("the checkpoint to begin from"));
    ReadResume();
  });
}

void CheckpointFolder::ReadResume() {
  files_.Read(options_.resume, [this](const Result<Manifest>& manifest) {
    if (stopped_) return;
    const Status resumed = manifest.ok() ? steps_.resume(*manifest) : manifest.status();
    if (!resumed.ok()) return steps_.failed(resumed.WithContext("the checkpoint to begin from"));
    FindNext();
  });
}

void CheckpointFolder::FindNext() {
  if (options_.folder.empty()) return steps_.ready();
  files_.FindNext(options_.folder, [this](const Result<std::uint64_t>& next) {
    if (stopped_) return;
    steps_.number(next);
    if (!stopped_) steps_.ready();
  });
}

}  // namespace leeway
