// Staleness and lead over a job, from the figures of its nodes. docs/glossary.md says what both words mean.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "status/job_status.h"

namespace leeway::app {

struct Staleness {
  double mean = 0;
  double p95 = 0;  // at most 12 % too low: shards count in buckets
  double gradients = 0;
};

// Of all gradients that servers took; nothing before the first.
[[nodiscard]] std::optional<Staleness> StalenessOf(const JobStatus& status);
// Of the gradients of one worker, on average; nothing if no server names it.
[[nodiscard]] std::optional<double> MeanStalenessOf(const JobStatus& status, std::uint32_t rank);
// Of the answers that workers got, on average; nothing before the first.
[[nodiscard]] std::optional<double> MeanLead(const JobStatus& status);

// Counts by the numbers that are their names; one whose name is not a number is left out.
[[nodiscard]] std::map<std::uint64_t, double> CountsByNumber(const Figures& counts);

}  // namespace leeway::app
