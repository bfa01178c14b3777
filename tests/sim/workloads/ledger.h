// The ledger workload: every push adds 1 to cells of its own, under faults; at the end every cell must equal
// the APPLIED and SUMMED verdicts that its worker received for it. No push lost, none doubled, none in the
// wrong place.
//
// The seed draws everything about a run that its options leave open, so (options, commit) names a run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "block/block.h"
#include "sim/faults.h"

namespace leeway::sim {

struct LedgerOptions {
  std::uint64_t seed = 1;
  std::string sync = {};      // of the job-clock tables; empty: drawn from the seed
  std::string apply = {};     // empty: drawn, if sync is; else the model's default
  std::uint32_t workers = 0;  // 0: drawn, as are the next three
  std::uint32_t servers = 0;
  std::uint32_t shards = 0;      // per server
  std::uint32_t iterations = 0;  // of the worker that makes most
  bool faults = true;
  // The number of times that a worker sets another synchronization model, drawn from all, for some tables or
  // a server.
  std::uint32_t switches = 0;
};

// The outcomes that workers received.
struct VerdictCounts {
  std::uint64_t applied = 0, summed = 0, absent = 0, late_dropped = 0, refused = 0;
  VerdictCounts& operator+=(const VerdictCounts& other);
};

struct LedgerReport {
  LedgerOptions options;              // with the drawn values filled in
  std::string replay;                 // the command that repeats this run
  std::vector<std::string> problems;  // empty: no problem
  std::vector<std::string> log;       // the nodes' last lines, if there are problems
  std::uint64_t trace_hash = 0;
  std::uint64_t frames = 0, events = 0;
  double virtual_ms = 0;
  VerdictCounts verdicts;
  BlockCounters servers;  // summed over all shards
  FaultCounters faults;
  std::uint64_t resent = 0, reconnects = 0;  // summed over workers

  [[nodiscard]] bool ok() const { return problems.empty(); }
  // Problems, replay line and log, for people; empty when ok.
  [[nodiscard]] std::string Failure() const;
};

[[nodiscard]] LedgerReport RunLedger(const LedgerOptions& options);

struct LedgerTotals {
  std::uint64_t runs = 0, failed = 0;
  std::vector<LedgerReport> failures;  // the first few
  std::uint64_t trace_hash = 0;        // over all runs, in the order of their seeds
  std::uint64_t frames = 0, events = 0;
  VerdictCounts verdicts;
  BlockCounters servers;
  FaultCounters faults;
  std::uint64_t resent = 0, reconnects = 0;
  double wall_s = 0;
};

// Runs seeds first_seed .. first_seed + count - 1 on `threads` threads. Calls `progress` for every finished
// run (in any order, one call at a time), which may return false to stop early.
[[nodiscard]] LedgerTotals LedgerSweep(std::uint64_t first_seed, std::uint64_t count,
                                       const LedgerOptions& options,
                                       const std::function<bool(const LedgerReport&)>& progress = {},
                                       unsigned threads = 2);

}  // namespace leeway::sim
