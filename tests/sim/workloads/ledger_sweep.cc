#include <chrono>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/workloads/ledger.h"
#include "sim/workloads/seed_sweep.h"

namespace leeway::sim {
namespace {

constexpr std::size_t kFailuresKept = 5;

void AddUp(LedgerTotals& totals, const LedgerReport& report) {
  ++totals.runs;
  totals.frames += report.frames;
  totals.events += report.events;
  totals.verdicts += report.verdicts;
  totals.faults += report.faults;
  totals.resent += report.resent;
  totals.reconnects += report.reconnects;
  totals.servers += report.servers;
  if (report.ok()) return;
  ++totals.failed;
  if (totals.failures.size() < kFailuresKept) totals.failures.push_back(report);
}

}  // namespace

LedgerTotals LedgerSweep(std::uint64_t first_seed, std::uint64_t count, const LedgerOptions& options,
                         const std::function<bool(const LedgerReport&)>& progress, unsigned threads) {
  const auto begin = std::chrono::steady_clock::now();
  LedgerTotals totals;
  std::vector<std::uint64_t> hashes(count, 0);
  const auto run = [&options](std::uint64_t seed) {
    LedgerOptions one = options;
    one.seed = seed;
    return RunLedger(one);
  };
  SweepSeeds(first_seed, count, threads, run, [&](std::uint64_t index, const LedgerReport& report) {
    hashes[index] = report.trace_hash;
    AddUp(totals, report);
    return !progress || progress(report);
  });
  for (const std::uint64_t hash : hashes) totals.trace_hash = Hash64({totals.trace_hash, hash});
  totals.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return totals;
}

}  // namespace leeway::sim
