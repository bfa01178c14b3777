#include "status/staleness.h"

#include <fmt/format.h>

#include "base/number_from.h"

namespace leeway::app {

std::map<std::uint64_t, double> CountsByNumber(const Figures& counts) {
  std::map<std::uint64_t, double> by_number;
  for (const auto& [name, count] : counts) {
    if (const auto number = NumberFrom<std::uint64_t>(name)) by_number[*number] += count;
  }
  return by_number;
}

std::optional<Staleness> StalenessOf(const JobStatus& status) {
  constexpr double kShare = 0.95;
  const double gradients = status.OfShards("staleness_gradients");
  if (gradients <= 0) return std::nullopt;
  Staleness staleness{.mean = status.OfShards("staleness_sum") / gradients, .gradients = gradients};
  double below = 0;
  for (const auto& [versions, count] : CountsByNumber(status.OfShardsBy("staleness."))) {
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
