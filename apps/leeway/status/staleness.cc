#include "status/staleness.h"

#include <fmt/format.h>

#include <string_view>

#include "base/number_from.h"

namespace leeway::app {

template <typename Nodes>
std::map<std::uint64_t, double> CountsByNumber(const Nodes& nodes, const std::string& prefix) {
  std::map<std::uint64_t, double> counts;
  for (const auto& node : nodes) {
    for (auto at = node.figures.lower_bound(prefix);
         at != node.figures.end() && at->first.starts_with(prefix); ++at) {
      const auto number = NumberFrom<std::uint64_t>(std::string_view(at->first).substr(prefix.size()));
      if (number) counts[*number] += at->second;
    }
  }
  return counts;
}
template std::map<std::uint64_t, double> CountsByNumber(const std::vector<WorkerStatus>&, const std::string&);
template std::map<std::uint64_t, double> CountsByNumber(const std::vector<ShardStatus>&, const std::string&);

std::optional<Staleness> StalenessOf(const JobStatus& status) {
  constexpr double kShare = 0.95;
  const double gradients = status.OfShards("staleness_gradients");
  if (gradients <= 0) return std::nullopt;
  Staleness staleness{.mean = status.OfShards("staleness_sum") / gradients, .gradients = gradients};
  double below = 0;
  for (const auto& [versions, count] : CountsByNumber(status.shards, "staleness.")) {
    staleness.p95 = static_cast<double>(versions);
    below += count;
    if (below >= kShare * gradients) break;
  }
  return staleness;
}

std::optional<double> MeanStalenessOf(const JobStatus& status, std::uint32_t rank) {
  const double gradients = status.OfShards(fmt::format("staleness_gradients.{}", rank));
  if (gradients <= 0) return std::nullopt;
  return status.OfShards(fmt::format("staleness_sum.{}", rank)) / gradients;
}

std::optional<double> MeanLead(const JobStatus& status) {
  const double answers = status.OfWorkers("answers");
  if (answers <= 0) return std::nullopt;
  return status.OfWorkers("lead_sum") / answers;
}

}  // namespace leeway::app
