#include "node/worker/open_waits.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {
namespace {

void AskShard(const WorkerView& view, const WorkerBlock& block, WaitSurvey::Question question,
              Inquiries& inquiries) {
  inquiries.AskShard(view.ports.Of(block).link(), block.id, std::move(question));
}

void AddPull(const WorkerView& view, const WorkerTable& table, Inquiries& inquiries) {
  const auto open =
      std::ranges::find_if(table.blocks, [](const WorkerBlock& block) { return block.pull.open(); });
  // One block that lacks somebody holds the whole table up, unless parts of it may be left out.
  if (open == table.blocks.end() || view.partial.enabled()) {
    if (view.step.entered()) return;  // it asks after the barrier
    wire::pb::OpenWait wait;
    wait.set_what(fmt::format("table \"{}\"", table.spec.name));
    return inquiries.AddWait(wait);
  }
  const std::int64_t next = open->pull.progress().value() + 1;
  AskShard(view, *open,
           {table.IsOwnClock()
                ? fmt::format("the values of table \"{}\" after its push {}", table.spec.name, next)
                : fmt::format("the values of table \"{}\" for iteration {}", table.spec.name, next)},
           inquiries);
}

}  // namespace

void AddOpenWaits(const WorkerView& view, Inquiries& inquiries) {
  for (const wire::pb::OpenWait& wait : view.requests.Open()) inquiries.AddWait(wait);
  if (view.phase == WorkerPhase::kFinishing && !view.final_asked) {
    wire::pb::OpenWait wait;
    wait.set_what("the other workers to leave the job");
    for (const std::uint32_t rank : view.roster.present()) wait.add_missing(rank);
    inquiries.AddWait(wait);
  }
  for (const std::unique_ptr<WorkerTable>& table : view.tables.all()) {
    if (!table->waiters.empty() || !table->into.empty()) AddPull(view, *table, inquiries);
    const auto held = std::ranges::find_if(
        table->blocks, [](const WorkerBlock& block) { return !block.pushes.empty() && block.pushes.held(); });
    if (held == table->blocks.end()) continue;
    const Iteration iteration = held->pushes.front().iteration;
    AskShard(
        view, *held,
        {fmt::format("table \"{}\" to take iteration {}", table->spec.name, iteration.value()), iteration},
        inquiries);
  }
}

bool IsSettled(const WorkerView& view) {
  const WorkerBlock* busy = view.tables.FindBlockThat([](const WorkerBlock& block) {
    return block.init != nullptr || block.moved || block.resuming || !block.pushes.is_idle();
  });
  return busy == nullptr && view.reads.empty();
}

}  // namespace leeway
