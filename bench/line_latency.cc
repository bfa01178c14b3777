#include "line_latency.h"

#include <chrono>
#include <numeric>
#include <random>
#include <utility>

#include "base/check.h"

namespace leeway::bench {
namespace {

struct alignas(64) Line {
  std::uint32_t next = 0;
};

}  // namespace

std::vector<std::uint32_t> RandomCycle(std::size_t n) {
  std::vector<std::uint32_t> next(n);
  std::iota(next.begin(), next.end(), 0U);
  std::mt19937_64 bits(1);
  // Sattolo's shuffle: never with itself, so that all is one cycle.
  for (std::size_t i = n - 1; i > 0; --i) std::swap(next[i], next[bits() % i]);
  return next;
}

double LineLatencyNs(std::size_t set_bytes) {
  LW_CHECK(set_bytes >= 4096, "a set of {} bytes", set_bytes);
  std::vector<Line> set(set_bytes / sizeof(Line));
  const std::vector<std::uint32_t> next = RandomCycle(set.size());
  for (std::size_t i = 0; i < set.size(); ++i) set[i].next = next[i];
  constexpr std::size_t kSteps = 400'000;
  std::uint32_t at = 0;
  const auto walk = [&] {
    for (std::size_t i = 0; i < kSteps; ++i) at = set[at].next;
  };
  walk();
  const auto begin = std::chrono::steady_clock::now();
  walk();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  LW_CHECK(at < set.size(), "{}", at);  // so that the compiler does not leave the walk out
  return took.count() / kSteps;
}

}  // namespace leeway::bench
