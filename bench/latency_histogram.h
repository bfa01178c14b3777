// LatencyHistogram: how long things took, in buckets of 1.6 % each. Noting one costs neither memory nor a
// search.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway::bench {

class LatencyHistogram {
 public:
  void Note(std::uint64_t ns) { ++counts_[BucketOf(ns)]; }
  void Add(const LatencyHistogram& other);
  [[nodiscard]] std::uint64_t count() const;
  // The time below which `share` (0 to 1) of them lie, in microseconds; 0 for an empty histogram.
  [[nodiscard]] double QuantileUs(double share) const;

  // "1200:3,1201:7": bucket and count of buckets that are not empty; "-" for an empty histogram.
  [[nodiscard]] std::string ToText() const;
  [[nodiscard]] static Result<LatencyHistogram> FromText(std::string_view text);

 private:
  // 64 buckets for each doubling; below 128 ns each has its own. The last takes all from 18 minutes on.
  static constexpr std::uint64_t kNsMax = (1ULL << 40) - 1;
  static constexpr std::size_t kBuckets = (40 - 7) * 64 + 128;
  [[nodiscard]] static std::size_t BucketOf(std::uint64_t ns);
  [[nodiscard]] static double MiddleNs(std::size_t bucket);

  std::array<std::uint32_t, kBuckets> counts_{};
};

}  // namespace leeway::bench
