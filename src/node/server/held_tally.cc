#include "node/server/held_tally.h"

#include <algorithm>

namespace leeway {

void HeldTally::Add(MemberKey life, std::optional<TableId> own_clock, const HeldLife& held) {
  const auto [entry, is_new] = tallies_.try_emplace({life, own_clock});
  wire::pb::Held& tally = entry->second;
  if (is_new) {
    tally.set_worker(life.worker.value());
    tally.set_incarnation(life.incarnation.value());
    tally.set_own_clock(own_clock.has_value());
    if (own_clock) tally.set_table(own_clock->value());
    tally.set_highest(-1);
  }
  wire::pb::HeldBlocks& blocks = held.patched ? *tally.mutable_patched() : *tally.mutable_whole();
  tally.set_highest(std::max(tally.highest(), held.iteration.value()));
  if (held.silent) {
    blocks.set_silent(blocks.silent() + 1);
    return;
  }
  blocks.set_blocks(blocks.blocks() + 1);
  blocks.set_sum(blocks.sum() + held.iteration.value());
}

void HeldTally::Add(const BlockStore& blocks, MemberKey life) {
  for (const auto& block : blocks.all()) {
    std::optional<TableId> own_clock;
    if (blocks.IsOwnClock(*block)) own_clock = block->table();
    Add(life, own_clock, block->HeldOf(life));
  }
}

void HeldTally::FillInto(google::protobuf::RepeatedPtrField<wire::pb::Held>& out) const {
  for (const auto& [key, tally] : tallies_) *out.Add() = tally;
}

}  // namespace leeway
