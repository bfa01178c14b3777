#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/workloads/ledger.h"

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
  std::mutex mutex;  // guards everything below and `totals`; a simulation itself shares nothing
  std::uint64_t next = 0;
  bool stop = false;
  const auto work = [&] {
    for (;;) {
      std::uint64_t index = 0;
      {
        const std::lock_guard lock(mutex);
        if (stop || next == count) return;
        index = next++;
      }
      LedgerOptions one = options;
      one.seed = first_seed + index;
      const LedgerReport report = RunLedger(one);
      const std::lock_guard lock(mutex);
      hashes[index] = report.trace_hash;
      AddUp(totals, report);
      if (progress && !progress(report)) stop = true;
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min<std::uint64_t>(threads, count); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  for (const std::uint64_t hash : hashes) totals.trace_hash = Hash64({totals.trace_hash, hash});
  totals.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return totals;
}

}  // namespace leeway::sim
