#include "node/server/firsts.h"

#include <algorithm>
#include <map>
#include <optional>

namespace leeway {

void AddFirsts(const BlockStore& blocks, MemberKey member, wire::pb::EpochAck& ack) {
  std::map<std::optional<TableId>, Iteration> firsts;
  for (const auto& block : blocks.all()) {
    std::optional<TableId> clock;
    if (blocks.IsOwnClock(*block)) clock = block->table();
    Iteration& first = firsts[clock];
    first = std::max(first, block->FirstOf(member.worker));
  }
  for (const auto& [clock, first] : firsts) {
    wire::pb::First& entry = *ack.add_firsts();
    entry.set_worker(member.worker.value());
    entry.set_incarnation(member.incarnation.value());
    entry.set_own_clock(clock.has_value());
    if (clock) entry.set_table(clock->value());
    entry.set_first(first.value());
  }
}

}  // namespace leeway
