#include "node/server/shard_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "wire/frame.h"

namespace leeway {
namespace {

// A report names so many workers, and adds up the figures of all others.
constexpr std::size_t kWorkersNamed = 32;

double InSeconds(Duration time) { return std::chrono::duration<double>(time).count(); }

// lead_read.3 counts answers with a lead of 3 iterations. The last bucket counts larger leads too.
void AddHistogram(const char* name, const LeadHistogram& histogram, Figures& figures) {
  for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
    if (histogram.buckets[i] == 0) continue;
    figures.Set(fmt::format("{}.{}", name, i), static_cast<double>(histogram.buckets[i]));
  }
}

// "waited_for.2" and "dpr.2" are figures of worker 2. The workers with the most have their own figure;
// "waited_for.others" adds up all others.
template <typename Value, typename ToNumber>
void AddByWorker(const char* name, const std::map<WorkerId, Value>& by_worker, ToNumber to_number,
                 Figures& figures) {
  std::vector<std::pair<Value, WorkerId>> most;
  most.reserve(by_worker.size());
  for (const auto& [worker, value] : by_worker) most.emplace_back(value, worker);
  std::ranges::sort(most, std::ranges::greater());
  for (std::size_t i = 0; i < most.size(); ++i) {
    const auto& [value, worker] = most[i];
    const bool named = i < kWorkersNamed && worker != kNoWorker;
    figures.Add(named ? fmt::format("{}.{}", name, worker.value()) : fmt::format("{}.others", name),
                to_number(value));
  }
}

}  // namespace

void ShardReports::NoteFrame(const FrameHead& head) {
  ++frames_in_;
  bytes_in_ += wire::kHeaderBytes + head.body_bytes + head.payload_bytes;
}

void ShardReports::NoteDelay(TableId table, MemberKey from, Iteration progress) {
  delayed_pulls_.Note(from, progress);
  table_reports_.NoteDelay(table, from, progress);
}

Figures ShardReports::Count(const BlockStore& blocks, const ShardTraffic& traffic) const {
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
  for (const auto& [name, count] : kBlockCounts) set(name, sum.*count);
  set("moved", sum.moved + traffic.moved);
  set("no_memory", sum.no_memory + traffic.no_memory);
  set("dpr", delayed_pulls_.count());
  figures.Set("delayed_wait_s", InSeconds(sum.delayed_wait));
  figures.Set("blocked_wait_s", InSeconds(sum.blocked_wait));
  // Seconds for which other workers' pulls waited for this worker, and how many of its own pulls waited.
  AddByWorker("waited_for", sum.waited_for, InSeconds, figures);
  AddByWorker(
      "dpr", delayed_pulls_.by_worker(), [](std::uint64_t n) { return static_cast<double>(n); }, figures);
  AddHistogram("lead_read", sum.lead_read, figures);
  staleness_.AddTo(figures);
  set("waiting", waiting);
  set("bytes_in", bytes_in_);
  set("bytes_out", traffic.bytes_out);
  if (traffic.answers_withdrawn > 0) set("answers_withdrawn", traffic.answers_withdrawn);
  set("frames_in", frames_in_);
  set("reports", reports_);
  set("blocks", blocks.all().size());
  set("values_bytes", values_bytes);
  return figures;
}

void ShardReports::Warn(const BlockStore& blocks, Log& log) {
  if (mismatch_said_ && overflow_said_ && memory_said_) return;
  for (const auto& block : blocks.all()) {
    const BlockCounters& counters = block->counters();
    const auto warn = [&](const char* what) {
      log.Write(LogLevel::kWarning, fmt::format("table \"{}\" block {}: {} (said once; the figures count on)",
                                                blocks.TableName(*block), block->id().value(), what));
    };
    if (counters.hyper_mismatches > 0 && !std::exchange(mismatch_said_, true)) {
      warn(
          "workers pushed different hyper-parameters (lr, ...) for one iteration; those of one of them "
          "were used");
    }
    if (counters.overflowed > 0 && !std::exchange(overflow_said_, true)) {
      warn("the result of a step was not finite though every gradient was; the step was left out");
    }
    if (counters.no_memory > 0 && !std::exchange(memory_said_, true)) {
      warn(
          "there was no memory for a push or a step, which was refused; give the server more memory, or "
          "start more servers");
    }
  }
}

wire::pb::Report ShardReports::Make(const BlockStore& blocks, const ShardTraffic& traffic, Log& log) {
  Warn(blocks, log);
  ++reports_;
  wire::pb::Report report;
  const Figures figures = Count(blocks, traffic);
  for (const auto& [name, value] : figures.all()) (*report.mutable_values())[name] = value;
  for (const auto& block : blocks.all()) {
    if (block->waiting() == 0) continue;
    report.set_waiting_for(block->WhyWaiting());
    break;
  }
  table_reports_.AddTo(blocks, report);
  return report;
}

}  // namespace leeway
