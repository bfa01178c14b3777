#include "status/same_batches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

namespace leeway::app {
namespace {

constexpr std::size_t kNamesMax = 8;

std::string NamesOf(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::string> names;
  for (const std::uint32_t rank : ranks) {
    if (names.size() == kNamesMax) {
      names.push_back(fmt::format("{} more", ranks.size() - kNamesMax));
      break;
    }
    names.push_back(fmt::format("w{}", rank));
  }
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

}  // namespace

std::string SameBatchesText(const JobStatus& status) {
  std::map<double, std::vector<std::uint32_t>> ranks;  // by digest
  for (const WorkerStatus& worker : status.workers) {
    const double digest = Figure(worker.figures, "first_gradients");
    if (digest != 0) ranks[digest].push_back(worker.rank);
  }
  for (const auto& [digest, same] : ranks) {
    if (same.size() < 2) continue;
    return fmt::format(
        "warning: {} have the same first gradients, so they seem to train on the same batches. Give each "
        "rank batches of its own: DataLoader(data, sampler=DistributedSampler(data, lw.size(), lw.rank())), "
        "or lw.BatchPool",
        NamesOf(same));
  }
  return {};
}

}  // namespace leeway::app
