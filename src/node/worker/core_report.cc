// What the worker says of itself: beats to the scheduler, and the words for what it waits for.
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/seconds.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::OnReportTimer() {
  SendReport();
  report_timer_ = env_.timers.After(options_.link.beat, [this] { OnReportTimer(); });
}

void WorkerNode::Core::SendReport() {
  if (!scheduler_.up()) return;
  wire::pb::Report report;
  report.set_iteration(iteration_.value());
  report.set_waiting_for(ClippedMessage(WaitingFor()));
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
  count("reconnects", counters_.reconnects);
  count("bytes_sent", counters_.bytes_sent);
  count("bytes_received", counters_.bytes_received);
  count("staleness_sum", counters_.staleness_sum);
  values["wait_s"] = static_cast<double>(counters_.wait_ns) * 1e-9;
  values["iteration"] = static_cast<double>(iteration_.value());
  // The user's own figures come last: what the user measures beats what the node guesses.
  for (const auto& [name, value] : figures_) values[name] = value;
  scheduler_.SendControl(wire::Kind::kReport, report);
}

std::string WorkerNode::Core::WaitingFor() const {
  switch (phase_) {
    case Phase::kJoining:
      return WaitingForJoin();
    case Phase::kLeaving:
      if (!leave_sent_) return WaitingForVerdict();
      break;
    case Phase::kFinishing:
      return WaitingToFinish();
    case Phase::kNew:
    case Phase::kStopped:
    case Phase::kFailed:
      return "";
    default:
      break;
  }
  if (std::string request = requests_.WaitingFor(); !request.empty()) return request;
  if (std::string use = WaitingForUse(); !use.empty()) return use;
  return WaitingForVerdict();
}

std::string WorkerNode::Core::WaitingForJoin() const {
  const double waited_s = Seconds(env_.clock.Now() - phase_since_);
  if (!scheduler_.up()) return fmt::format("the scheduler to answer, for {:.1f} s", waited_s);
  for (const std::unique_ptr<ShardPort>& port : ports_) {
    if (!port->link().up())
      return fmt::format("a connection to {}, for {:.1f} s", port->link().peer(), waited_s);
  }
  return fmt::format("all {} workers and {} servers to join the job, for {:.1f} s", job_.workers,
                     job_.servers, waited_s);
}

std::string WorkerNode::Core::DescribeBlock(const WorkerBlock& block, std::string_view what,
                                            TimePoint since) const {
  const Link& link = ports_[block.shard.index()]->link();
  const TimePoint now = env_.clock.Now();
  return fmt::format("table \"{}\" block {} on {}: {}, for {:.1f} s ({}, last heard of {:.1f} s ago)",
                     block.table->spec.name, block.index, link.peer(), what, Seconds(now - since),
                     link.up() ? "connected" : "not connected", Seconds(now - link.last_heard()));
}

std::string WorkerNode::Core::WaitingForUse() const {
  const WorkerBlock* first = nullptr;
  TimePoint since;
  std::size_t open = 0;
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    if (table->waiters.empty() && table->into.empty()) continue;
    for (const WorkerBlock& block : table->blocks) {
      if (!block.pull.open()) continue;
      ++open;
      if (first != nullptr) continue;
      first = &block;
      since = table->waiters.empty() ? block.pull.since() : table->waiters.front().since;
    }
  }
  if (first == nullptr) return "";
  const std::string what = fmt::format("values for iteration {}", first->pull.progress().value() + 1);
  std::string text = DescribeBlock(*first, what, since);
  if (open > 1) text += fmt::format(" and {} more blocks", open - 1);
  return text;
}

std::string WorkerNode::Core::WaitingForVerdict() const {
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    for (const WorkerBlock& block : table->blocks) {
      if (block.init != nullptr)
        return DescribeBlock(block, "its initial values to be taken", block.pull.since());
      if (block.pushes.empty()) continue;
      const QueuedPush& push = block.pushes.front();
      const std::string what = fmt::format(
          "the verdict on push {} of iteration {}{}", push.seq.value(), push.iteration.value(),
          block.pushes.held() ? " (held back: beyond the open iterations, or the block has moved)" : "");
      std::string text = DescribeBlock(block, what, block.pull.since());
      if (unsettled_ > 1) text += fmt::format(" and {} more pushes", unsettled_ - 1);
      return text;
    }
  }
  return "";
}

std::string WorkerNode::Core::WaitingToFinish() const {
  const double waited_s = Seconds(env_.clock.Now() - phase_since_);
  if (final_progress_ == kIterationMax) {
    return fmt::format("workers {} to leave the job, for {:.1f} s", fmt::join(roster_.Present(), ", "),
                       waited_s);
  }
  for (const std::unique_ptr<WorkerTable>& table : tables_) {
    for (const WorkerBlock& block : table->blocks) {
      if (block.pull.open()) return DescribeBlock(block, "its final values", block.pull.since());
    }
  }
  return "";
}

}  // namespace leeway
