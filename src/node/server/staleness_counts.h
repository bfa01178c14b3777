// StalenessCounts: how stale the gradients of a shard were, in versions of their blocks: a histogram, and a
// sum for each worker. One per shard. Thread rule: the node's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "block/rank_table.h"
#include "leeway/ids.h"
#include "monitor/figures.h"

namespace leeway {

class StalenessCounts {
 public:
  void Note(WorkerId from, std::uint64_t versions);
  // "staleness_sum" and "staleness_gradients": the mean is their quotient; the same of worker 2 as
  // "staleness_sum.2", of the workers with the largest sums; "staleness.32": gradients whose staleness is at
  // least 32 and below the next bucket.
  void AddTo(Figures& figures) const;

  // Below 32 each staleness has a bucket of its own. Above, eight buckets cover the way to the next power of
  // two, so that a percentile is at most 12 % too low. The last one is of 2^20 and more.
  static constexpr std::size_t kBuckets = 32 + 15 * 8 + 1;
  [[nodiscard]] static std::size_t BucketOf(std::uint64_t versions);
  [[nodiscard]] static std::uint64_t LeastOf(std::size_t bucket);

 private:
  struct Sum {
    std::uint64_t versions = 0;
    std::uint64_t gradients = 0;
  };

  RankTable<Sum> workers_;
  std::array<std::uint64_t, kBuckets> buckets_{};  // gradients
};

}  // namespace leeway
