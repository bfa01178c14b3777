#include "node/server/block_warnings.h"

#include <fmt/format.h>

namespace leeway {

void BlockWarnings::Look(const BlockStore& blocks, Log& log) {
  if (mismatch_said_ && overflow_said_ && memory_said_) return;
  for (const auto& block : blocks.all()) {
    const BlockCounters& counters = block->counters();
    const auto warn = [&](const char* what) {
      log.Write(LogLevel::kWarning, fmt::format("table \"{}\" block {}: {} (said once; the figures count on)",
                                                blocks.TableName(*block), block->id().value(), what));
    };
    if (counters.hyper_mismatches > 0 && !mismatch_said_) {
      mismatch_said_ = true;
      warn(
          "workers pushed different hyper-parameters (lr, ...) for one iteration; those of one of them "
          "were used");
    }
    if (counters.overflowed > 0 && !overflow_said_) {
      overflow_said_ = true;
      warn("the result of a step was not finite though every gradient was; the step was left out");
    }
    if (counters.no_memory > 0 && !memory_said_) {
      memory_said_ = true;
      warn(
          "there was no memory for a push or a step, which was refused; give the server more memory, or "
          "start more servers");
    }
  }
}

}  // namespace leeway
