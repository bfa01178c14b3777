#include "node/scheduler/table_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"

namespace leeway {

TableDefinitions::TableDefinitions(const JobOptions& job, const SchedulerPolicies& policies,
                                   std::uint64_t payload_bytes_max, Log& log, SchedulerActions& actions,
                                   std::function<void()> made)
    : log_(log), actions_(actions), made_(std::move(made)), tables_(job, policies, payload_bytes_max) {}

void TableDefinitions::Define(ConnectionId id, const wire::pb::DefineTables& request,
                              const Complete& complete) {
  if (unsettled_ && tables_.Creates(request)) {
    actions_.WhenAcked(unsettled_->epoch, id,
                       [this, id, request, complete] { Define(id, request, complete); });
    return;
  }
  const std::size_t tables_before = tables_.all().size();
  wire::pb::TableMap reply;
  reply.set_request(request.request());
  Result<TableRegistry::Defined> defined = tables_.Define(request, actions_.epoch() + 1);
  if (!defined.ok()) return ReplyError(id, reply, defined.status());
  const bool made = !defined->created.empty();
  if (made) {
    wire::pb::TableMap change;
    const Epoch epoch = actions_.NextEpoch();
    change.set_epoch(epoch.value());
    tables_.AddTo(change, defined->created);
    actions_.SendToShards(wire::Kind::kTableMap, change);
    unsettled_ = Unsettled{.tables_before = tables_before, .epoch = epoch};
    actions_.WhenAcked(epoch, ConnectionId{}, [this] { Settle(); });
  }
  // Not before every shard owns its blocks: a worker never reaches a shard that does not know one.
  reply.set_epoch(defined->epoch.value());
  actions_.WhenAcked(
      defined->epoch, id, [this, id, complete, made, asked = std::move(defined->asked), reply]() mutable {
        const auto withdrawn = [this](TableId table) { return table.index() >= tables_.all().size(); };
        if (std::ranges::any_of(asked, withdrawn)) return ReplyError(id, reply, last_refusal_);
        // As they are by then: their synchronization may have been changed meanwhile.
        tables_.AddTo(reply, asked);
        complete(reply);
        actions_.Send(id, wire::Kind::kTableMap, reply);
        if (made) made_();
      });
}

void TableDefinitions::ReplyError(ConnectionId id, wire::pb::TableMap& reply, const Status& why) {
  reply.set_error(ClippedMessage(why.message()));
  reply.set_error_code(static_cast<std::uint32_t>(why.code()));
  actions_.Send(id, wire::Kind::kTableMap, reply);
}

Status TableDefinitions::TakeRefusals(const ShardSeat& seat, const wire::pb::EpochAck& ack) {
  for (const wire::pb::TableRefusal& refusal : ack.refused()) {
    Status why = ResourceExhausted("server {} shard {} at {}: {}", seat.server.value(), seat.shard,
                                   seat.address, ClippedMessage(refusal.error()));
    if (!unsettled_ || refusal.table() < unsettled_->tables_before) return why;
    if (!unsettled_->withdrawn && unsettled_->refusal.ok()) unsettled_->refusal = std::move(why);
  }
  return Status::Ok();
}

void TableDefinitions::Settle() {
  if (stopped_ || unsettled_->refusal.ok()) return unsettled_.reset();
  last_refusal_ = std::exchange(unsettled_->refusal, Status::Ok());
  log_.Write(LogLevel::kError,
             fmt::format("{} tables are withdrawn: {}", tables_.all().size() - unsettled_->tables_before,
                         last_refusal_.message()));
  tables_.Withdraw(unsettled_->tables_before);
  unsettled_->withdrawn = true;
  unsettled_->epoch = actions_.NextEpoch();
  wire::pb::TableMap change;
  change.set_epoch(unsettled_->epoch.value());
  change.set_tables_kept(static_cast<std::uint32_t>(tables_.all().size()));
  actions_.SendToShards(wire::Kind::kTableMap, change);
  // Their ids are used again only when no shard has them any more.
  actions_.WhenAcked(unsettled_->epoch, ConnectionId{}, [this] { Settle(); });
}

}  // namespace leeway
