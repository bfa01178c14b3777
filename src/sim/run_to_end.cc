#include "sim/run_to_end.h"

#include <fmt/format.h>

#include <algorithm>

namespace leeway::sim {

void RunToEnd(Cluster& cluster, std::vector<std::unique_ptr<WorkloadPart>>& parts, const MakePart& make,
              std::vector<std::string>& problems, Duration calm) {
  cluster.Start([&](std::uint32_t rank) {
    if (parts.size() <= rank) parts.resize(rank + 1);
    parts[rank] = make(rank);
    parts[rank]->Begin();
  });
  const auto all_done = [&] {
    return parts.size() == cluster.workers() &&
           std::ranges::all_of(parts, [](const auto& part) { return part != nullptr && part->done(); });
  };
  const bool ended = cluster.RunUntil([&] { return !problems.empty() || (all_done() && cluster.Ended()); },
                                      cluster.healed_by() + calm);
  for (const std::string& problem : cluster.Problems()) problems.push_back(problem);
  if (ended || !problems.empty()) return;
  problems.push_back(fmt::format("the job had not ended {} s after the last fault",
                                 std::chrono::duration_cast<std::chrono::seconds>(calm).count()));
  parts.resize(cluster.workers());
  for (const auto& part : parts) problems.push_back(part ? part->Where() : "a worker never began");
  for (std::uint32_t id = 0;; ++id) {
    const Block* block = cluster.FindBlock(BlockId(id));
    if (block == nullptr) break;
    problems.push_back(fmt::format("block {} term {} in iteration {}: {}", id, block->term().value(),
                                   block->v_train().value(), block->WhyWaiting()));
  }
}

std::string FailureText(const std::vector<std::string>& problems, const std::string& replay,
                        const std::vector<std::string>& log) {
  if (problems.empty()) return {};
  std::string text = fmt::format("{} problems; replay with: {}\n", problems.size(), replay);
  for (const std::string& problem : problems) text += fmt::format("  {}\n", problem);
  if (!log.empty()) text += "last log lines of the nodes:\n";
  for (const std::string& line : log) text += fmt::format("  {}\n", line);
  return text;
}

}  // namespace leeway::sim
