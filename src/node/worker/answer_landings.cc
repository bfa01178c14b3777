#include "node/worker/answer_landings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

using Slot = AnswerLanding::Slot;

// Adds the place of the entry's values to `landing`, if it has values.
Result<Slot> ChooseSlot(ShardId from, TableSet& tables, const wire::AnswerEntry& entry, Landing& landing) {
  if (entry.payload_bytes == 0) return Slot();
  WorkerBlock* block = tables.FindBlock(entry.block);
  if (block == nullptr)
    return Protocol("an answer for block {}, which no table of this worker has", entry.block.value());
  if (entry.payload_bytes != block->bytes()) {
    return Protocol("table \"{}\" block {}: an answer of {} bytes, wanted {}", block->table->spec.name,
                    entry.block.value(), entry.payload_bytes, block->bytes());
  }
  Slot slot;
  std::span<std::byte> place;
  if (!AnswerLandings::IsWanted(from, *block, entry)) {
    // Answered before, or asked anew since: its bytes must go somewhere.
    slot.staged = tables.pool().Take(block->elements);
    place = slot.staged->bytes();
  } else if (block->table->IsOwnClock()) {
    slot.use = Slot::Use::kInto;
    place = std::as_writable_bytes(block->table->into.front().values.subspan(block->offset, block->elements));
  } else {
    slot.use = Slot::Use::kPair;
    PairLanding::Place chosen = block->table->landing.Begin(block->index);
    slot.staged = std::move(chosen.staged);
    place = std::as_writable_bytes(chosen.values);
  }
  // Of a frame that has tables of both clocks the smaller.
  const std::uint64_t bytes = tables.BytesLikeThis(*block->table);
  landing.of_bytes = landing.places.empty() ? bytes : std::min(landing.of_bytes, bytes);
  landing.places.push_back(place);
  return slot;
}

}  // namespace

bool AnswerLandings::IsWanted(ShardId from, const WorkerBlock& block, const wire::AnswerEntry& entry) {
  if (block.term != entry.term || block.shard != from || !block.pull.open()) return false;
  if (block.table->IsOwnClock()) return entry.ask == block.pull.ask();
  const std::optional<Iteration> progress = block.pull.ProgressOf(entry.ask);
  if (!progress || (block.drops_late && *progress <= block.passed)) return false;
  return *progress > block.table->landing.arrived(block.index);
}

std::shared_ptr<AnswerLanding> AnswerLandings::Take() {
  for (const std::shared_ptr<AnswerLanding>& landing : landings_) {
    if (landing.use_count() > 1) continue;
    landing->slots.clear();
    return landing;
  }
  return landings_.emplace_back(std::make_shared<AnswerLanding>());  // one per connection, at the most
}

Result<Landing> AnswerLandings::Begin(const WorkerIdentity& self, ShardId from, TableSet& tables,
                                      std::span<const std::byte> body, std::uint64_t payload_bytes) {
  std::shared_ptr<AnswerLanding> lease = Take();
  LW_RETURN_IF_ERROR(wire::Decode(body, payload_bytes, lease->answers));
  LW_RETURN_IF_ERROR(self.CheckAddressee(lease->answers.worker, lease->answers.incarnation));
  Landing landing;
  landing.places.reserve(lease->answers.entries.size());
  for (const wire::AnswerEntry& entry : lease->answers.entries) {
    LW_ASSIGN_OR_RETURN(Slot slot, ChooseSlot(from, tables, entry, landing));
    lease->slots.push_back(std::move(slot));
  }
  landing.lease = std::move(lease);
  return landing;
}

Result<std::shared_ptr<AnswerLanding>> AnswerLandings::Unchanged(std::span<const std::byte> body) {
  std::shared_ptr<AnswerLanding> unchanged = Take();
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, unchanged->answers));
  unchanged->slots.resize(unchanged->answers.entries.size());
  return unchanged;
}

}  // namespace leeway
