// JobCheckpoints: what a launched job can go back to. Its folder may hold checkpoints of jobs before it,
// which are no state of this one.
#pragma once

#include <cstdint>
#include <string>

#include "leeway/options.h"

namespace leeway::app {

// " (fuzzy: ...)" with what that means, if the checkpoint is one; else empty.
[[nodiscard]] std::string FuzzyNote(const std::string& checkpoint);

class JobCheckpoints {
 public:
  // REQUIRES: made before the job is started. options.resume names one checkpoint, or is empty.
  explicit JobCheckpoints(const CheckpointOptions& options);

  // The newest whole one that the job wrote; else the one that it began from; else empty.
  [[nodiscard]] std::string Newest() const;
  // Whether it can write any.
  [[nodiscard]] bool enabled() const { return !options_.folder.empty(); }

 private:
  const CheckpointOptions options_;
  std::uint64_t before_ = 0;  // the highest id that was there before the job
};

}  // namespace leeway::app
