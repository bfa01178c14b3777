#include "node/worker/worker_view.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// The ranks that a text names at the most: a report is sent every beat.
constexpr std::size_t kRanksNamed = 16;

std::string DescribeBlock(const WorkerView& view, const WorkerBlock& block, std::string_view what,
                          TimePoint since) {
  const Link& link = view.ports.Of(block).link();
  return fmt::format("table \"{}\" block {} on {}: {}, for {:.1f} s ({}, last heard of {:.1f} s ago)",
                     block.table->spec.name, block.index, link.peer(), what, Seconds(view.now - since),
                     link.up() ? "connected" : "not connected", Seconds(view.now - link.last_heard()));
}

Wait WaitingToJoin(const WorkerView& view) {
  const double waited_s = Seconds(view.now - view.phase_since);
  if (!view.scheduler.up()) {
    return {Wait::Cause::kScheduler, fmt::format("the scheduler to answer, for {:.1f} s", waited_s)};
  }
  for (const std::unique_ptr<ShardPort>& port : view.ports.all()) {
    if (port->link().up()) continue;
    Wait wait{Wait::Cause::kConnection,
              fmt::format("a connection to {}, for {:.1f} s", port->link().peer(), waited_s)};
    wait.name = port->link().peer();
    return wait;
  }
  if (view.client_state.reading()) {
    return {Wait::Cause::kFile,
            fmt::format("its state in the checkpoint to be read, for {:.1f} s", waited_s)};
  }
  return {Wait::Cause::kGathering, fmt::format("all {} workers and {} servers to join the job, for {:.1f} s",
                                               view.job.workers, view.job.servers, waited_s)};
}

Wait WaitingToBegin(const WorkerView& view) {
  if (view.phase != WorkerPhase::kMember || view.waits.open() == 0) return {};
  const WorkerBlock* block = view.rules.HeldUp(view.tables, view.iteration);
  if (block == nullptr) return {};
  const QueuedPush& push = block->pushes.front();
  const std::string what =
      fmt::format("the verdict on push {} of iteration {}, without which {} does not begin iteration {}",
                  push.seq.value(), push.iteration.value(), block->model->sync, view.iteration.value());
  Wait wait{Wait::Cause::kVerdict, DescribeBlock(view, *block, what, view.waits.since()), block};
  wait.since = view.waits.since();
  if (block->pushes.held()) wait.held = push.iteration;
  return wait;
}

Wait WaitingForUse(const WorkerView& view) {
  if (Wait begin = WaitingToBegin(view); begin.cause != Wait::Cause::kNothing) return begin;
  const WorkerBlock* first = nullptr;
  TimePoint since;
  std::size_t open = 0;
  for (const std::unique_ptr<WorkerTable>& table : view.tables.all()) {
    if (table->waiters.empty() && table->into.empty()) continue;
    for (const WorkerBlock& block : table->blocks) {
      if (!block.pull.open()) continue;
      ++open;
      // A partial pull goes on without the others.
      const bool due = view.partial.open() && block.skipped >= view.partial.policy().skip_max;
      if (first != nullptr && !due) continue;
      first = &block;
      since = table->waiters.empty() ? block.pull.since() : table->waiters.front().since;
    }
  }
  if (first == nullptr) return {};
  std::string what = fmt::format("values for iteration {}", first->pull.progress().value() + 1);
  if (view.partial.open() && first->skipped > 0) {
    what += fmt::format(" (left out {} times running, which is the most)", first->skipped);
  } else if (view.partial.enabled() && !view.partial.reached()) {
    what += fmt::format(" (until {:.0f} % of all blocks are there)", 100 * view.partial.policy().share_min);
  }
  std::string text = DescribeBlock(view, *first, what, since);
  if (open > 1) text += fmt::format(" and {} more blocks", open - 1);
  Wait wait{Wait::Cause::kValues, std::move(text), first};
  wait.since = since;
  return wait;
}

Wait WaitingForVerdict(const WorkerView& view) {
  for (const std::unique_ptr<WorkerTable>& table : view.tables.all()) {
    for (const WorkerBlock& block : table->blocks) {
      if (block.init != nullptr) {
        return {Wait::Cause::kVerdict,
                DescribeBlock(view, block, "its initial values to be taken", block.pull.since()), &block};
      }
      if (block.pushes.empty()) continue;
      const QueuedPush& push = block.pushes.front();
      const std::string what = fmt::format(
          "the verdict on push {} of iteration {}{}", push.seq.value(), push.iteration.value(),
          block.pushes.held() ? " (held back: beyond the open iterations, or the block has moved)" : "");
      std::string text = DescribeBlock(view, block, what, block.pull.since());
      if (view.ports.unsettled() > 1) text += fmt::format(" and {} more pushes", view.ports.unsettled() - 1);
      Wait wait{Wait::Cause::kVerdict, std::move(text), &block};
      wait.since = block.pull.since();
      if (block.pushes.held()) wait.held = push.iteration;
      return wait;
    }
  }
  return {};
}

Wait WaitingToFinish(const WorkerView& view) {
  const double waited_s = Seconds(view.now - view.phase_since);
  if (!view.final_asked) {
    Wait wait{Wait::Cause::kMembers, ""};
    wait.ranks = view.roster.present();
    wait.since = view.phase_since;
    const auto named = std::span(wait.ranks).first(std::min(wait.ranks.size(), kRanksNamed));
    const std::size_t more = wait.ranks.size() - named.size();
    wait.text = fmt::format("workers {}{} to leave the job, for {:.1f} s", fmt::join(named, ", "),
                            more > 0 ? fmt::format(" and {} more", more) : "", waited_s);
    return wait;
  }
  for (const std::unique_ptr<WorkerTable>& table : view.tables.all()) {
    for (const WorkerBlock& block : table->blocks) {
      if (!block.pull.open()) continue;
      return {Wait::Cause::kValues, DescribeBlock(view, block, "its final values", block.pull.since()),
              &block};
    }
  }
  if (const std::optional<TimePoint> since = view.client_state.writing_since()) {
    return {Wait::Cause::kFile, fmt::format("its state to be written into the checkpoint, for {:.1f} s",
                                            Seconds(view.now - *since))};
  }
  return {};
}

}  // namespace

Wait FindWait(const WorkerView& view) {
  switch (view.phase) {
    case WorkerPhase::kJoining:
      return WaitingToJoin(view);
    case WorkerPhase::kLeaving:
      if (!view.leave_sent) return WaitingForVerdict(view);
      break;
    case WorkerPhase::kFinishing:
      return WaitingToFinish(view);
    case WorkerPhase::kNew:
    case WorkerPhase::kStopped:
    case WorkerPhase::kFailed:
      return {};
    default:
      break;
  }
  if (Wait request = view.requests.Waiting(); request.cause != Wait::Cause::kNothing) return request;
  if (Wait use = WaitingForUse(view); use.cause != Wait::Cause::kNothing) return use;
  if (const WorkerBlock* block = view.reads.FirstOpen(); block != nullptr) {
    Wait wait{Wait::Cause::kValues, DescribeBlock(view, *block, "its arrays to be read", view.reads.since()),
              block};
    wait.since = view.reads.since();
    wait.is_read = true;
    return wait;
  }
  return WaitingForVerdict(view);
}

}  // namespace leeway
