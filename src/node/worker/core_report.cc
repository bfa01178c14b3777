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

// Of those that a worker waits for.
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

}  // namespace

void WorkerNode::Core::OnReportTimer() {
  SendReport();
  FinishIfWhole();  // what it writes may have taken too long
  report_timer_ = env_.timers.After(options_.link.beat, [this] { OnReportTimer(); });
  due_.Run();
}

void WorkerNode::Core::ReportWaits(wire::pb::Report& report) const {
  auto& values = *report.mutable_values();
  for (const auto& [cause, ns] : counters_.wait_by_ns)
    values["wait." + cause] = static_cast<double>(ns) * 1e-9;
  std::vector<const WorkerBlock*> waited_for;
  tables_.ForEachBlock([&waited_for](const WorkerBlock& block) {
    if (block.waited > Duration::zero()) waited_for.push_back(&block);
  });
  const std::size_t named = std::min(waited_for.size(), kBlocksNamed);
  std::ranges::partial_sort(waited_for, waited_for.begin() + static_cast<std::ptrdiff_t>(named),
                            std::ranges::greater(), &WorkerBlock::waited);
  for (const WorkerBlock* block : std::span(waited_for).first(named)) {
    const std::string_view table(block->table->spec.name);
    values[fmt::format("wait.block.{}/{}", table.substr(0, WaitCauses::kNameBytesMax), block->index)] +=
        Seconds(block->waited);
  }
}

void WorkerNode::Core::ReportMoment(const Wait& wait, wire::pb::WorkerMoment& moment) const {
  const TimePoint now = env_.clock.Now();
  if (const auto training = waits_.SinceTrainingBegan(now)) moment.set_training_s(Seconds(*training));
  if (const auto since_step = waits_.SinceStep(now)) moment.set_since_step_s(Seconds(*since_step));
  // A verdict that is on its way holds nobody up, unless an iteration may not begin without it: the user
  // computes meanwhile.
  const bool blocked = wait.cause != Wait::Cause::kNothing &&
                       (wait.cause != Wait::Cause::kVerdict || waits_.open() > 0 || phase_ != Phase::kMember);
  if (!blocked && waits_.training() && phase_ == Phase::kMember)
    moment.set_computing_s(std::max(Seconds(waits_.Computing(now)), 0.0));
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

void WorkerNode::Core::AnswerIfSettled() {
  if (!state_answer_) return;
  // A state knows of all pushes before it: servers that cut at once must have them before they do.
  const bool waits = cut_at_once_ && !state_answer_->file().empty();
  if (waits && tables_.SettledBefore(iteration_) < Iteration(state_answer_->iteration())) return;
  scheduler_.SendControl(wire::Kind::kRankState, *state_answer_);
  state_answer_.reset();
}

void WorkerNode::Core::SendReport() {
  if (!scheduler_.up()) return;
  wire::pb::Report report;
  report.set_iteration(iteration_.value());
  report.set_settled(tables_.SettledBefore(iteration_).value());
  report.set_has_final(phase_ == Phase::kFinished);
  const Wait wait = Waiting();
  report.set_waiting_for(ClippedMessage(wait.text));
  ReportMoment(wait, *report.mutable_moment());
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
  count("lead_sum", counters_.lead_sum);
  count("skipped_blocks", counters_.skipped_blocks);
  count("skipped_late", counters_.skipped_late);
  count("iterations_skipped", counters_.iterations_skipped);
  count("exchanges_skipped", counters_.exchanges_skipped);
  for (std::size_t lead = 0; lead < counters_.lead.size(); ++lead) {
    if (counters_.lead[lead] == 0) continue;
    values[fmt::format("lead_used.{}", lead)] = static_cast<double>(counters_.lead[lead]);
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
