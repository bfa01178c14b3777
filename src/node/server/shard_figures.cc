#include "node/server/shard_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace leeway {
namespace {

// Members that are named in a report; what was waited for others is added up.
constexpr std::size_t kMissingNamed = 32;

double InSeconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// staleness_read.3: how many were 3 iterations old; the last bucket is that and more.
void AddHistogram(const char* name, const StalenessHistogram& histogram, Figures& figures) {
  for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
    if (histogram.buckets[i] == 0) continue;
    figures.Set(fmt::format("{}.{}", name, i), static_cast<double>(histogram.buckets[i]));
  }
}

// waited_for.2: seconds that pulls were held up until worker 2 had sent what was missing.
void AddWaitedFor(const std::map<WorkerId, Duration>& waited_for, Figures& figures) {
  std::vector<std::pair<Duration, WorkerId>> most;
  for (const auto& [worker, waited] : waited_for) most.emplace_back(waited, worker);
  std::ranges::sort(most, std::ranges::greater());
  for (std::size_t i = 0; i < most.size(); ++i) {
    const auto& [waited, worker] = most[i];
    const bool named = i < kMissingNamed && worker != kNoWorker;
    figures.Add(named ? fmt::format("waited_for.{}", worker.value()) : "waited_for.others",
                InSeconds(waited));
  }
}

}  // namespace

Figures ShardFigures(const BlockStore& blocks, const ShardTraffic& traffic) {
  const BlockCounters sum = blocks.Sum();
  std::uint64_t waiting = 0;
  std::uint64_t values_bytes = 0;
  for (const auto& block : blocks.all()) {
    waiting += block->waiting();
    values_bytes += block->elements() * sizeof(float);
  }
  Figures figures;
  const auto set = [&figures](const char* name, std::uint64_t value) {
    figures.Set(name, static_cast<double>(value));
  };
  set("applied", sum.applied);
  set("summed", sum.summed);
  set("absent", sum.absent);
  set("late_dropped", sum.late_dropped);
  set("late_applied", sum.late_applied);
  set("refused", sum.refused);
  set("repeated", sum.repeated);
  set("gaps", sum.gaps);
  set("fenced", sum.fenced);
  set("moved", sum.moved + traffic.moved);
  set("windows", sum.windows);
  set("pulls", sum.pulls);
  set("answers", sum.answers);
  set("unchanged", sum.unchanged);
  set("dpr", traffic.delayed_pulls);
  set("advances", sum.advances);
  set("steps", sum.steps);
  set("hyper_mismatches", sum.hyper_mismatches);
  set("overflowed", sum.overflowed);
  set("resumed", sum.resumed);
  set("switches", sum.switches);
  set("compensated", sum.compensated);
  set("uncompensated", sum.uncompensated);
  figures.Set("delayed_wait_s", InSeconds(sum.delayed_wait));
  figures.Set("blocked_wait_s", InSeconds(sum.blocked_wait));
  AddWaitedFor(sum.waited_for, figures);
  AddHistogram("staleness_read", sum.read_staleness, figures);
  AddHistogram("staleness_applied", sum.applied_staleness, figures);
  set("waiting", waiting);
  set("bytes_in", traffic.bytes_in);
  set("bytes_out", traffic.bytes_out);
  set("blocks", blocks.all().size());
  set("values_bytes", values_bytes);
  return figures;
}

wire::pb::Report ShardReport(const BlockStore& blocks, const ShardTraffic& traffic) {
  wire::pb::Report report;
  const Figures figures = ShardFigures(blocks, traffic);
  for (const auto& [name, value] : figures.all()) (*report.mutable_values())[name] = value;
  for (const auto& block : blocks.all()) {
    if (block->waiting() == 0) continue;
    report.set_waiting_for(block->WhyWaiting());
    break;
  }
  return report;
}

}  // namespace leeway
