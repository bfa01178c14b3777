#include "sim/workloads/ledger.h"

#include <memory>

#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/workloads/ledger_book.h"
#include "sim/workloads/ledger_plan.h"
#include "sim/workloads/ledger_worker.h"

namespace leeway::sim {
namespace {

// After the last fault has healed a job ends within this time, or something hangs. Iterations take 20 ms at
// most, and a worker whose goodbye was lost is given up after some seconds.
Duration CalmLimit(const LedgerPlan& plan) {
  return std::chrono::seconds(10) + plan.options.iterations * std::chrono::milliseconds(100);
}

ClusterOptions ClusterFor(const LedgerPlan& plan) {
  ClusterOptions options;
  options.seed = plan.options.seed;
  options.job = plan.job;
  options.faults = plan.options.faults;
  return options;
}

}  // namespace

VerdictCounts& VerdictCounts::operator+=(const VerdictCounts& other) {
  applied += other.applied;
  summed += other.summed;
  absent += other.absent;
  late_dropped += other.late_dropped;
  refused += other.refused;
  return *this;
}

std::string LedgerReport::Failure() const { return FailureText(problems, replay, log); }

LedgerReport RunLedger(const LedgerOptions& options) {
  const LedgerPlan plan = MakeLedgerPlan(options);
  LedgerBook book(plan);
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  // Declared after the parts: its events may refer to them.
  Cluster cluster(ClusterFor(plan));
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<LedgerWorker>(cluster, plan, book, rank); },
      book.problems(), CalmLimit(plan));
  if (book.problems().empty()) {
    std::uint64_t skipped_late = 0;
    for (std::uint32_t rank = 0; rank < plan.options.workers; ++rank)
      skipped_late += cluster.worker(rank).counters().skipped_late;
    book.CheckCounts(cluster.ServerCounters(), skipped_late);
  }

  LedgerReport report;
  report.options = plan.options;
  report.replay = plan.replay;
  report.problems = book.problems();
  if (!report.ok()) report.log = cluster.Log();
  report.trace_hash = cluster.trace().value();
  report.frames = cluster.trace().frames();
  report.events = cluster.queue().events_run();
  report.virtual_ms = std::chrono::duration<double, std::milli>(cluster.queue().now()).count();
  report.verdicts = book.verdicts();
  report.servers = cluster.ServerCounters();
  report.faults = cluster.faults();
  for (std::uint32_t rank = 0; rank < plan.options.workers; ++rank) {
    if (rank >= parts.size() || parts[rank] == nullptr) continue;
    report.resent += cluster.worker(rank).counters().resent;
    report.reconnects += cluster.worker(rank).counters().reconnects;
  }
  return report;
}

}  // namespace leeway::sim
