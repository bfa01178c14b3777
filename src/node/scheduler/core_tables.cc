// Tables that a shard has no memory for. A definition is settled when every shard has answered to it; if one
// refuses, the tables of the definition are withdrawn everywhere, and whoever asked for them is told why. No
// worker hears of a table before that, so nothing of it is in use.
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"

namespace leeway {

Status SchedulerNode::Core::TakeRefusals(const ShardSeat& seat, const wire::pb::EpochAck& ack) {
  for (const wire::pb::TableRefusal& refusal : ack.refused()) {
    Status why = ResourceExhausted("server {} shard {} at {}: {}", seat.server.value(), seat.shard,
                                   seat.address, ClippedMessage(refusal.error()));
    if (!unsettled_ || refusal.table() < unsettled_->tables_before) return why;
    if (!unsettled_->withdrawn && unsettled_->refusal.ok()) unsettled_->refusal = std::move(why);
  }
  return Status::Ok();
}

void SchedulerNode::Core::Settle() {
  if (over_ || unsettled_->refusal.ok()) return unsettled_.reset();
  last_refusal_ = std::exchange(unsettled_->refusal, Status::Ok());
  env_.log.Write(LogLevel::kError,
                 fmt::format("{} tables are withdrawn: {}", tables_.all().size() - unsettled_->tables_before,
                             last_refusal_.message()));
  tables_.Withdraw(unsettled_->tables_before);
  unsettled_->withdrawn = true;
  unsettled_->epoch = NextEpoch();
  wire::pb::TableMap change;
  change.set_epoch(unsettled_->epoch.value());
  change.set_tables_kept(static_cast<std::uint32_t>(tables_.all().size()));
  for (const ShardSeat& shard : members_.shards()) {
    inbound_.SendControl(shard.connection, wire::Kind::kTableMap, change);
  }
  // Their ids are used again only when no shard has them any more.
  acks_.When(unsettled_->epoch, ConnectionId{}, [this] { Settle(); });
}

}  // namespace leeway
