#include "latency_histogram.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/errors.h"

namespace leeway::bench {

std::size_t LatencyHistogram::BucketOf(std::uint64_t ns) {
  ns = std::min(ns, kNsMax);
  if (ns < 128) return ns;
  const auto shift = static_cast<std::size_t>(std::bit_width(ns)) - 7;
  return shift * 64 + (ns >> shift);
}

double LatencyHistogram::MiddleNs(std::size_t bucket) {
  if (bucket < 128) return static_cast<double>(bucket);
  const std::size_t shift = bucket / 64 - 1;
  return (static_cast<double>(bucket - shift * 64) + 0.5) * static_cast<double>(1ULL << shift);
}

void LatencyHistogram::Add(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
}

std::uint64_t LatencyHistogram::count() const {
  std::uint64_t all = 0;
  for (const std::uint32_t n : counts_) all += n;
  return all;
}

double LatencyHistogram::QuantileUs(double share) const {
  const std::uint64_t all = count();
  if (all == 0) return 0;
  const auto at = std::min(all - 1, static_cast<std::uint64_t>(share * static_cast<double>(all)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    below += counts_[i];
    if (below > at) return MiddleNs(i) * 1e-3;
  }
  return MiddleNs(kBuckets - 1) * 1e-3;
}

std::string LatencyHistogram::ToText() const {
  std::string text;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (counts_[i] != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", i, counts_[i]);
  }
  return text.empty() ? "-" : text;
}

Result<LatencyHistogram> LatencyHistogram::FromText(std::string_view text) {
  LatencyHistogram histogram;
  if (text == "-") return histogram;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::size_t bucket = 0;
    std::uint32_t count = 0;
    const auto [colon, no_bucket] = std::from_chars(at, end, bucket);
    if (no_bucket != std::errc{} || bucket >= kBuckets || colon == end || *colon != ':') break;
    const auto [comma, no_count] = std::from_chars(colon + 1, end, count);
    if (no_count != std::errc{}) break;
    histogram.counts_[bucket] += count;
    if (comma == end) return histogram;
    if (*comma != ',') break;
    at = comma + 1;
  }
  return InvalidArgument("got the histogram \"{}\", wanted bucket:count,...", text.substr(0, 60));
}

}  // namespace leeway::bench
