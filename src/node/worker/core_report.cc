// What the worker says of itself: beats to the scheduler.
#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/seconds.h"
#include "node/worker/core.h"
#include "node/worker/wait_causes.h"

namespace leeway {
namespace {

// Blocks that are named: those that were waited for longest.
constexpr std::size_t kBlocksNamed = 8;

}  // namespace

void WorkerNode::Core::OnReportTimer() {
  SendReport();
  FinishIfWhole();  // what it writes may have taken too long
  report_timer_ = env_.timers.After(options_.link.beat, [this] { OnReportTimer(); });
  RunLater();
}

void WorkerNode::Core::ReportWaits(wire::pb::Report& report) const {
  auto& values = *report.mutable_values();
  for (const auto& [cause, ns] : counters_.wait_by_ns)
    values["wait." + cause] = static_cast<double>(ns) * 1e-9;
  std::vector<const WorkerBlock*> waited_for;
  for (const WorkerBlock* block : blocks_) {
    if (block != nullptr && block->waited > Duration::zero()) waited_for.push_back(block);
  }
  const std::size_t named = std::min(waited_for.size(), kBlocksNamed);
  std::ranges::partial_sort(waited_for, waited_for.begin() + static_cast<std::ptrdiff_t>(named),
                            std::ranges::greater(), &WorkerBlock::waited);
  for (const WorkerBlock* block : std::span(waited_for).first(named)) {
    const std::string_view table(block->table->spec.name);
    values[fmt::format("wait.block.{}/{}", table.substr(0, WaitCauses::kNameBytesMax), block->index)] +=
        Seconds(block->waited);
  }
}

Iteration WorkerNode::Core::SettledBefore() const {
  Iteration before = iteration_;
  for (const WorkerBlock* block : blocks_) {
    if (block == nullptr || block->table->IsOwnClock() || block->pushes.empty()) continue;
    before = std::min(before, block->pushes.front().iteration);
  }
  return before;
}

void WorkerNode::Core::AnswerIfSettled() {
  if (!state_answer_) return;
  // A state knows of all pushes before it: servers that cut at once must have them before they do.
  const bool waits = cut_at_once_ && !state_answer_->file().empty();
  if (waits && SettledBefore() < Iteration(state_answer_->iteration())) return;
  scheduler_.SendControl(wire::Kind::kRankState, *state_answer_);
  state_answer_.reset();
}

void WorkerNode::Core::SendReport() {
  if (!scheduler_.up()) return;
  wire::pb::Report report;
  report.set_iteration(iteration_.value());
  report.set_settled(SettledBefore().value());
  report.set_has_final(phase_ == Phase::kFinished);
  report.set_waiting_for(ClippedMessage(WaitingFor()));
  report.set_acts(acts_);
  report.set_waits(UserWaits());
  auto& values = *report.mutable_values();
  const auto count = [&values](const char* name, std::uint64_t n) { values[name] = static_cast<double>(n); };
  count("pushes", counters_.pushes);
  count("applied", counters_.applied);
  count("summed", counters_.summed);
  count("absent", counters_.absent);
  count("late_dropped", counters_.late_dropped);
  count("refused", counters_.refused);
  count("pulls", counters_.pulls);
  count("answers", counters_.answers);
  count("unchanged", counters_.unchanged);
  count("resent", counters_.resent);
  count("lost", counters_.lost);
  count("reconnects", counters_.reconnects);
  count("bytes_sent", counters_.bytes_sent);
  count("bytes_received", counters_.bytes_received);
  count("staleness_sum", counters_.staleness_sum);
  count("skipped_blocks", counters_.skipped_blocks);
  count("skipped_late", counters_.skipped_late);
  count("iterations_skipped", counters_.iterations_skipped);
  count("exchanges_skipped", counters_.exchanges_skipped);
  for (std::size_t behind = 0; behind < counters_.staleness.size(); ++behind) {
    if (counters_.staleness[behind] == 0) continue;
    values[fmt::format("staleness.{}", behind)] = static_cast<double>(counters_.staleness[behind]);
  }
  for (const auto& [carrier, times] : counters_.connected_over)
    values["connected." + carrier] = static_cast<double>(times);
  ReportWaits(report);
  values["wait_s"] = static_cast<double>(counters_.wait_ns) * 1e-9;
  values["iteration"] = static_cast<double>(iteration_.value());
  // The user's own figures come last: what the user measures beats what the node guesses.
  for (const auto& [name, value] : figures_) values[name] = value;
  scheduler_.SendControl(wire::Kind::kReport, report);
}

}  // namespace leeway
