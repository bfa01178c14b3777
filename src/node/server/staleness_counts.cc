#include "node/server/staleness_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

namespace leeway {
namespace {

// A report goes out with every beat, so it names only some workers.
constexpr std::size_t kStalestNamed = 32;

constexpr std::size_t kExactBits = 5;
constexpr std::size_t kExactBelow = std::size_t{1} << kExactBits;
constexpr std::size_t kEighthBits = 3;

}  // namespace

std::size_t StalenessCounts::BucketOf(std::uint64_t versions) {
  if (versions < kExactBelow) return versions;
  const auto power = static_cast<std::size_t>(std::bit_width(versions)) - 1;
  const std::size_t eighth = versions >> (power - kEighthBits) & 7U;
  return std::min(kExactBelow + 8 * (power - kExactBits) + eighth, kBuckets - 1);
}

std::uint64_t StalenessCounts::LeastOf(std::size_t bucket) {
  if (bucket < kExactBelow) return bucket;
  const std::size_t power = kExactBits + (bucket - kExactBelow) / 8;
  return (8 + (bucket - kExactBelow) % 8) << (power - kEighthBits);
}

void StalenessCounts::Note(WorkerId from, std::uint64_t versions) {
  Sum& sum = workers_[from];
  sum.versions += versions;
  ++sum.gradients;
  ++buckets_[BucketOf(versions)];
}

void StalenessCounts::AddTo(Figures& figures) const {
  Sum all;
  std::vector<std::pair<std::uint64_t, WorkerId>> stalest;
  workers_.ForEach([&](WorkerId worker, const Sum& sum) {
    all.versions += sum.versions;
    all.gradients += sum.gradients;
    stalest.emplace_back(sum.versions, worker);
  });
  if (all.gradients == 0) return;
  const std::size_t named = std::min(stalest.size(), kStalestNamed);
  std::ranges::partial_sort(stalest, stalest.begin() + static_cast<std::ptrdiff_t>(named),
                            std::ranges::greater());
  for (std::size_t i = 0; i < named; ++i) {
    const WorkerId worker = stalest[i].second;
    const Sum& sum = *workers_.Find(worker);
    figures.Set(fmt::format("staleness_sum.{}", worker.value()), static_cast<double>(sum.versions));
    figures.Set(fmt::format("staleness_gradients.{}", worker.value()), static_cast<double>(sum.gradients));
  }
  figures.Set("staleness_sum", static_cast<double>(all.versions));
  figures.Set("staleness_gradients", static_cast<double>(all.gradients));
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i] > 0)
      figures.Set(fmt::format("staleness.{}", LeastOf(i)), static_cast<double>(buckets_[i]));
  }
}

}  // namespace leeway
