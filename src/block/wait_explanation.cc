#include "block/wait_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "block/worker_names.h"

namespace leeway {

namespace {

constexpr std::size_t kWaitsNamed = 3;
constexpr std::size_t kBytesMax = 512;

// The cause that a pull of this progress waits for, which asks for this epoch.
std::string CauseOf(Iteration progress, Epoch epoch, const BlockWaitState& causes) {
  if (!causes.initialized) return "for initial values";
  if (causes.epoch < epoch) return fmt::format("for epoch {} (now {})", epoch.value(), causes.epoch.value());
  const std::string lacks = WorkerNames(causes.missing);
  const std::int64_t open = causes.v_train.value();
  if (causes.release == Release::kLazy && progress > causes.v_train)
    return fmt::format("for iteration {} to end; {} is open and lacks {}", progress.value(), open, lacks);
  return fmt::format("for iteration {} to end, which lacks {}", open, lacks);
}

}  // namespace

std::string ExplainWaits(std::span<const PullEvent> waiting, const BlockWaitState& causes) {
  // Workers of one progress that wait for one thing are named together.
  std::map<std::pair<Iteration, Epoch>, std::vector<WorkerId>> waits;
  for (const PullEvent& pull : waiting)
    waits[{pull.progress, std::max(pull.epoch_min, causes.epoch)}].push_back(pull.from.worker);
  std::string why;
  std::size_t named = 0;
  for (const auto& [wait, workers] : waits) {
    if (named++ == kWaitsNamed) break;
    why += fmt::format("{}{} wait{} with progress {} {}", why.empty() ? "" : "; ", WorkerNames(workers),
                       workers.size() == 1 ? "s" : "", wait.first.value(),
                       CauseOf(wait.first, wait.second, causes));
  }
  if (waits.size() > kWaitsNamed)
    why += fmt::format("; and {} more of other progress", waits.size() - kWaitsNamed);
  if (why.size() > kBytesMax) why.replace(kBytesMax - 3, std::string::npos, "...");
  return why;
}

}  // namespace leeway
