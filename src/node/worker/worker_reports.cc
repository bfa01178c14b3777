#include "node/worker/worker_reports.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/seconds.h"
#include "node/worker/wait_causes.h"

namespace leeway {
namespace {

// A report names so many blocks: the ones that were waited for longest.
constexpr std::size_t kBlocksNamed = 8;

// The ranks that a report names at the most.
constexpr int kRanksReported = 8;

const char* CauseName(Wait::Cause cause) {
  switch (cause) {
    case Wait::Cause::kNothing:
      break;
    case Wait::Cause::kScheduler:
      return "scheduler";
    case Wait::Cause::kGathering:
      return "gathering";
    case Wait::Cause::kConnection:
      return "connection";
    case Wait::Cause::kFile:
      return "file";
    case Wait::Cause::kTables:
      return "tables";
    case Wait::Cause::kBarrier:
      return "barrier";
    case Wait::Cause::kBatches:
      return "batches";
    case Wait::Cause::kLeft:
      return "left";
    case Wait::Cause::kValues:
      return "values";
    case Wait::Cause::kVerdict:
      return "verdict";
    case Wait::Cause::kMembers:
      return "members";
  }
  return "";
}

void ReportWaits(const WorkerView& view, const WorkerCounters& counters, wire::pb::Report& report) {
  auto& values = *report.mutable_values();
  for (const auto& [cause, ns] : counters.wait_by_ns)
    values["wait." + cause] = static_cast<double>(ns) * 1e-9;
  std::vector<const WorkerBlock*> waited_for;
  view.tables.ForEachBlock([&waited_for](const WorkerBlock& block) {
    if (block.waited > Duration::zero()) waited_for.push_back(&block);
  });
  const std::size_t named = std::min(waited_for.size(), kBlocksNamed);
  std::ranges::partial_sort(waited_for, waited_for.begin() + static_cast<std::ptrdiff_t>(named),
                            std::ranges::greater(), &WorkerBlock::waited);
  for (const WorkerBlock* block : std::span(waited_for).first(named)) {
    const std::string_view table = WaitCauses::ShortName(block->table->spec.name);
    values[fmt::format("wait.block.{}/{}", table, block->index)] += Seconds(block->waited);
  }
}

// A report names so many tables: those whose values were waited for longest.
constexpr std::size_t kOverlapTablesNamed = 8;

// "overlap.wire_s" of the worker, "overlap.wire.fc.weight" of a table, or of the tables that share a short
// name.
void ReportOverlapOf(const std::string& end, const OverlapTimes& times, wire::pb::Report& report) {
  auto& values = *report.mutable_values();
  values["overlap.communication" + end] += Seconds(times.communication);
  values["overlap.queue" + end] += Seconds(times.queue);
  values["overlap.held" + end] += Seconds(times.held);
  values["overlap.wire" + end] += Seconds(times.wire);
}

void ReportOverlap(const WorkerView& view, wire::pb::Report& report) {
  const OverlapTimes total = view.overlap.Total(view.now);
  if (total.communication == Duration::zero()) return;
  ReportOverlapOf("_s", total, report);
  auto& values = *report.mutable_values();
  values["overlap.delay_s"] = Seconds(total.delay);
  values["overlap.pushes"] = static_cast<double>(total.pushes);
  values["overlap.slow_pushes"] = static_cast<double>(total.slow_pushes);
  std::vector<std::pair<Duration, const WorkerTable*>> waited_for;
  view.tables.ForEachJobClock([&](const WorkerTable& table) {
    const Duration waited = view.overlap.Of(table.id).waited();
    if (waited > Duration::zero()) waited_for.emplace_back(waited, &table);
  });
  const std::size_t named = std::min(waited_for.size(), kOverlapTablesNamed);
  std::ranges::partial_sort(waited_for, waited_for.begin() + static_cast<std::ptrdiff_t>(named),
                            std::ranges::greater(), &std::pair<Duration, const WorkerTable*>::first);
  for (const auto& [waited, table] : std::span(waited_for).first(named)) {
    ReportOverlapOf(fmt::format(".{}", WaitCauses::ShortName(table->spec.name)), view.overlap.Of(table->id),
                    report);
  }
}

void ReportMoment(const WorkerView& view, const Wait& wait, wire::pb::WorkerMoment& moment) {
  const TimePoint now = view.now;
  if (const auto training = view.waits.SinceTrainingBegan(now)) moment.set_training_s(Seconds(*training));
  if (const auto since_step = view.waits.SinceStep(now)) moment.set_since_step_s(Seconds(*since_step));
  // A verdict that is on its way holds nobody up, unless an iteration may not begin without it: the user
  // computes meanwhile.
  const bool blocked =
      wait.cause != Wait::Cause::kNothing &&
      (wait.cause != Wait::Cause::kVerdict || view.waits.open() > 0 || view.phase != WorkerPhase::kMember);
  if (!blocked && view.waits.training() && view.phase == WorkerPhase::kMember)
    moment.set_computing_s(std::max(Seconds(view.waits.Computing(now)), 0.0));
  if (wait.cause == Wait::Cause::kNothing) return;
  moment.set_waits_on(CauseName(wait.cause));
  moment.set_name(ClippedMessage(wait.block != nullptr ? wait.block->table->spec.name : wait.name));
  if (wait.block != nullptr) moment.set_shard(wait.block->shard.value());
  if (wait.since != TimePoint{}) moment.set_waiting_s(Seconds(now - wait.since));
  for (const std::uint32_t rank : wait.ranks) {
    if (moment.ranks_size() == kRanksReported) break;
    moment.add_ranks(rank);
  }
}

}  // namespace

wire::pb::Report WorkerReports::Make(const WorkerView& view, const WorkerCounters& counters,
                                     bool user_waits) const {
  wire::pb::Report report;
  report.set_iteration(view.iteration.value());
  report.set_settled(view.tables.SettledBefore(view.iteration).value());
  report.set_has_final(view.phase == WorkerPhase::kFinished);
  const Wait wait = FindWait(view);
  report.set_waiting_for(ClippedMessage(wait.text));
  ReportMoment(view, wait, *report.mutable_moment());
  report.set_acts(acts_);
  report.set_waits(user_waits);
  auto& values = *report.mutable_values();
  for (const auto& [name, count] : kWorkerCounts) values[name] = static_cast<double>(counters.*count);
  values["lost"] = static_cast<double>(counters.lost);
  for (std::size_t lead = 0; lead < counters.lead.size(); ++lead) {
    if (counters.lead[lead] == 0) continue;
    values[fmt::format("lead_used.{}", lead)] = static_cast<double>(counters.lead[lead]);
  }
  for (const auto& [carrier, times] : counters.connected_over)
    values["connected." + carrier] = static_cast<double>(times);
  ReportWaits(view, counters, report);
  ReportOverlap(view, report);
  values["wait_s"] = static_cast<double>(counters.wait_ns) * 1e-9;
  values["iteration"] = static_cast<double>(view.iteration.value());
  // The user's own figures come last: what the user measures beats what the node guesses.
  for (const auto& [name, value] : figures_) values[name] = value;
  return report;
}

}  // namespace leeway
