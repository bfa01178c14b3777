// What the worker waits for, in words.
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "node/seconds.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// Of those that a worker waits for: a report is sent every beat.
constexpr std::size_t kRanksNamed = 16;

}  // namespace

Wait WorkerNode::Core::Waiting() const {
  switch (phase_) {
    case Phase::kJoining:
      return WaitingToJoin();
    case Phase::kLeaving:
      if (!leave_sent_) return WaitingForVerdict();
      break;
    case Phase::kFinishing:
      return WaitingToFinish();
    case Phase::kNew:
    case Phase::kStopped:
    case Phase::kFailed:
      return {};
    default:
      break;
  }
  if (Wait request = requests_.Waiting(); request.cause != Wait::Cause::kNothing) return request;
  if (Wait use = WaitingForUse(); use.cause != Wait::Cause::kNothing) return use;
  if (const WorkerBlock* block = reads_.FirstOpen(); block != nullptr) {
    Wait wait{Wait::Cause::kValues, DescribeBlock(*block, "its arrays to be read", reads_.since()), block};
    wait.since = reads_.since();
    wait.is_read = true;
    return wait;
  }
  return WaitingForVerdict();
}

Wait WorkerNode::Core::WaitingToJoin() const {
  const double waited_s = Seconds(env_.clock.Now() - phase_since_);
  if (!scheduler_.up()) {
    return {Wait::Cause::kScheduler, fmt::format("the scheduler to answer, for {:.1f} s", waited_s)};
  }
  for (const std::unique_ptr<ShardPort>& port : ports_.all()) {
    if (port->link().up()) continue;
    Wait wait{Wait::Cause::kConnection,
              fmt::format("a connection to {}, for {:.1f} s", port->link().peer(), waited_s)};
    wait.name = port->link().peer();
    return wait;
  }
  if (reading_state_) {
    return {Wait::Cause::kFile,
            fmt::format("its state in the checkpoint to be read, for {:.1f} s", waited_s)};
  }
  return {Wait::Cause::kGathering, fmt::format("all {} workers and {} servers to join the job, for {:.1f} s",
                                               job_.workers, job_.servers, waited_s)};
}

std::string WorkerNode::Core::DescribeBlock(const WorkerBlock& block, std::string_view what,
                                            TimePoint since) const {
  const Link& link = ports_.At(block.shard.index()).link();
  const TimePoint now = env_.clock.Now();
  return fmt::format("table \"{}\" block {} on {}: {}, for {:.1f} s ({}, last heard of {:.1f} s ago)",
                     block.table->spec.name, block.index, link.peer(), what, Seconds(now - since),
                     link.up() ? "connected" : "not connected", Seconds(now - link.last_heard()));
}

Wait WorkerNode::Core::WaitingToBegin() const {
  const WorkerBlock* block = waits_.open() > 0 ? HeldUp() : nullptr;
  if (block == nullptr) return {};
  const QueuedPush& push = block->pushes.front();
  const std::string what =
      fmt::format("the verdict on push {} of iteration {}, without which {} does not begin iteration {}",
                  push.seq.value(), push.iteration.value(), block->model->sync, iteration_.value());
  Wait wait{Wait::Cause::kVerdict, DescribeBlock(*block, what, waits_.since()), block};
  wait.since = waits_.since();
  if (block->pushes.held()) wait.held = push.iteration;
  return wait;
}

Wait WorkerNode::Core::WaitingForUse() const {
  if (Wait begin = WaitingToBegin(); begin.cause != Wait::Cause::kNothing) return begin;
  const WorkerBlock* first = nullptr;
  TimePoint since;
  std::size_t open = 0;
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    if (table->waiters.empty() && table->into.empty()) continue;
    for (const WorkerBlock& block : table->blocks) {
      if (!block.pull.open()) continue;
      ++open;
      // A partial pull goes on without the others.
      const bool due = partial_.partial().open() && block.skipped >= partial_.partial().policy().skip_max;
      if (first != nullptr && !due) continue;
      first = &block;
      since = table->waiters.empty() ? block.pull.since() : table->waiters.front().since;
    }
  }
  if (first == nullptr) return {};
  std::string what = fmt::format("values for iteration {}", first->pull.progress().value() + 1);
  if (partial_.partial().open() && first->skipped > 0) {
    what += fmt::format(" (left out {} times running, which is the most)", first->skipped);
  } else if (partial_.partial().enabled() && !partial_.partial().reached()) {
    what +=
        fmt::format(" (until {:.0f} % of all blocks are there)", 100 * partial_.partial().policy().share_min);
  }
  std::string text = DescribeBlock(*first, what, since);
  if (open > 1) text += fmt::format(" and {} more blocks", open - 1);
  Wait wait{Wait::Cause::kValues, std::move(text), first};
  wait.since = since;
  return wait;
}

Wait WorkerNode::Core::WaitingForVerdict() const {
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    for (const WorkerBlock& block : table->blocks) {
      if (block.init != nullptr) {
        return {Wait::Cause::kVerdict,
                DescribeBlock(block, "its initial values to be taken", block.pull.since()), &block};
      }
      if (block.pushes.empty()) continue;
      const QueuedPush& push = block.pushes.front();
      const std::string what = fmt::format(
          "the verdict on push {} of iteration {}{}", push.seq.value(), push.iteration.value(),
          block.pushes.held() ? " (held back: beyond the open iterations, or the block has moved)" : "");
      std::string text = DescribeBlock(block, what, block.pull.since());
      if (ports_.unsettled() > 1) text += fmt::format(" and {} more pushes", ports_.unsettled() - 1);
      Wait wait{Wait::Cause::kVerdict, std::move(text), &block};
      wait.since = block.pull.since();
      if (block.pushes.held()) wait.held = push.iteration;
      return wait;
    }
  }
  return {};
}

Wait WorkerNode::Core::WaitingToFinish() const {
  const double waited_s = Seconds(env_.clock.Now() - phase_since_);
  if (final_progress_ == kIterationMax) {
    Wait wait{Wait::Cause::kMembers, ""};
    wait.ranks = roster_.present();
    wait.since = phase_since_;
    const auto named = std::span(wait.ranks).first(std::min(wait.ranks.size(), kRanksNamed));
    const std::size_t more = wait.ranks.size() - named.size();
    wait.text = fmt::format("workers {}{} to leave the job, for {:.1f} s", fmt::join(named, ", "),
                            more > 0 ? fmt::format(" and {} more", more) : "", waited_s);
    return wait;
  }
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    for (const WorkerBlock& block : table->blocks) {
      if (!block.pull.open()) continue;
      return {Wait::Cause::kValues, DescribeBlock(block, "its final values", block.pull.since()), &block};
    }
  }
  if (const std::optional<TimePoint> since = client_state_.writing_since()) {
    return {Wait::Cause::kFile, fmt::format("its state to be written into the checkpoint, for {:.1f} s",
                                            Seconds(env_.clock.Now() - *since))};
  }
  return {};
}

}  // namespace leeway
