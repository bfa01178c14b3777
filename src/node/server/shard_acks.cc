#include "node/server/shard_acks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "node/control_frame.h"
#include "node/server/held_tally.h"

namespace leeway {
namespace {

// Where the blocks count a member from that has come to the running job: one figure for the job's clock, one
// for each table with its own.
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

}  // namespace

void ShardAcks::PutOff(std::uint64_t epoch) { put_off_ = std::max(put_off_, epoch); }

wire::pb::EpochAck ShardAcks::Make(std::uint64_t epoch, const Roster& roster, const BlockStore& blocks) {
  wire::pb::EpochAck ack;
  ack.set_epoch(epoch);
  for (const MemberKey joining : roster.joining()) AddFirsts(blocks, joining, ack);
  HeldTally held;
  for (const MemberKey ended : roster.ended()) held.Add(blocks, ended);
  held.FillInto(*ack.mutable_held());
  for (const BlockStore::Refused& refused : std::exchange(refused_, {})) {
    wire::pb::TableRefusal& refusal = *ack.add_refused();
    refusal.set_table(refused.table.value());
    refusal.set_error(ClippedMessage(refused.why.message()));
  }
  return ack;
}

}  // namespace leeway
