#include "node/worker/block_moves.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

bool IsMoved(const WorkerBlock& block) { return block.moved; }

}  // namespace

BlockMoves::BlockMoves(Env& env, const LinkOptions& options, WorkerCounters& counters,
                       std::function<void()> ask)
    : env_(env), options_(options), counters_(counters), ask_(std::move(ask)) {}

void BlockMoves::Stop() { env_.timers.Cancel(std::exchange(timer_, {})); }

void BlockMoves::OnMoved(WorkerBlock& block, const ShardPorts& ports) {
  ports.Of(block).ChangeQueue(block, [](PushQueue& queue) { queue.OnMoved(); });
  block.moved = true;
  block.place_asked = false;
  Arm();
}

void BlockMoves::Arm() {
  if (std::exchange(asked_, true)) return;
  backoff_ = std::clamp<Duration>(backoff_ * 2, options_.backoff_min, options_.backoff_max);
  timer_ = env_.timers.After(backoff_, [this] {
    timer_ = {};
    ask_();
  });
}

BlockMoves::Asked BlockMoves::Question(const TableSet& tables) {
  Asked asked;
  for (const std::unique_ptr<WorkerTable>& table : tables.all()) {
    if (std::ranges::none_of(table->blocks, IsMoved)) continue;
    for (WorkerBlock& block : table->blocks) {
      block.place_asked = block.moved;
      if (!block.moved || block.seen == Term(0)) continue;
      wire::pb::SeenBlock& had_values = asked.seen.emplace_back();
      had_values.set_block(block.id.value());
      had_values.set_term(block.seen.value());
    }
    asked.tables.push_back(table.get());
    asked.specs.push_back(table->spec);
  }
  return asked;
}

Status BlockMoves::Replace(WorkerTable& table, const wire::pb::Table& map, const ShardPorts& ports) {
  for (WorkerBlock& block : table.blocks) ports.Of(block).RemoveBlock(block);
  const Status replaced = table.Replace(map, ports.all().size());
  for (WorkerBlock& block : table.blocks) {
    ShardPort& port = ports.Of(block);
    port.AddBlock(block);
    port.Touch(block);
    // An answer to a question from before the move does not tell where the block is now.
    block.moved = block.moved && !block.place_asked;
    block.init_sent = block.resume_sent = false;
    block.pull.AskAgain();
  }
  return replaced;
}

void BlockMoves::AskForRest(const TableSet& tables) {
  if (tables.FindBlockThat(IsMoved) != nullptr) Arm();
}

void BlockMoves::OnResumed(WorkerBlock& block, Seq last, ShardPort& port, bool counts) {
  block.resuming = false;
  OnFound();
  const std::uint64_t gone = port.ChangeQueue(block, [last](PushQueue& queue) { return queue.Resume(last); });
  if (observer_) observer_(block.table->id, block.id, block.term, last);
  const std::uint64_t assigns = std::erase_if(block.assigns, [last](Seq seq) { return seq > last; });
  if (gone == 0 || !counts) return;
  const std::uint64_t lost = gone - std::min(gone, assigns);  // as `pushes` counts, which knows no assigns
  counters_.lost += lost;
  lost_ = true;
  if (gone_.blocks++ == 0)
    gone_.first = fmt::format("table \"{}\" block {}", block.table->spec.name, block.id.value());
  gone_.pushes += lost;
  gone_.arrays += assigns;
}

namespace {

std::string Counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void BlockMoves::TellLost(const ShardPort& port) {
  const Gone gone = std::exchange(gone_, {});
  if (gone.blocks == 0) return;
  env_.log.Write(
      LogLevel::kWarning,
      fmt::format("{} lost {}{} of this worker that it had acknowledged: {}{} taken back to a checkpoint",
                  port.link().peer(), Counted(gone.pushes, "push", "pushes"),
                  gone.arrays > 0 ? " and " + Counted(gone.arrays, "array", "arrays") : "", gone.first,
                  gone.blocks > 1 ? fmt::format(" and {} more were", gone.blocks - 1) : " was"));
}

}  // namespace leeway
