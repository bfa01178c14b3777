// Linked with a ledger that is broken on purpose: ends well once the ledger workload has found it out.
#include <cstdint>
#include <cstdio>

#include "sim/workloads/ledger.h"

int main() {
  constexpr std::uint64_t kSeedsMax = 200;
  for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    leeway::sim::LedgerOptions options;
    options.seed = seed;
    const leeway::sim::LedgerReport report = leeway::sim::RunLedger(options);
    if (report.ok()) continue;
    std::printf("found out by seed %llu: %s\n", static_cast<unsigned long long>(seed),
                report.problems[0].c_str());
    return 0;
  }
  std::printf("a broken ledger passed %llu seeds of the ledger workload\n",
              static_cast<unsigned long long>(kSeedsMax));
  return 1;
}
