#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"
#include "node/unread.h"

namespace leeway {
namespace {

// A monitor asks several times a second: one that has read nothing for so many requests never will.
constexpr std::uint32_t kUnreadRequestsMax = 100;
// A ping that is on its way is no answer that nobody reads. Without this a monitor that asks as often as the
// scheduler pings it meets a ping each time, and is never answered.
constexpr std::uint64_t kUnreadBytes = 256;

}  // namespace

namespace {

constexpr std::uint32_t kPerIterationMax = 1U << 20;

// As a peer says it: within what jobs have, so that nothing overflows.
Iteration SaneIteration(std::int64_t said) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  return said == kIterationMax.value() ? kIterationMax : Iteration(std::clamp<std::int64_t>(said, 0, kEnd));
}

}  // namespace

Result<Landing> SchedulerNode::Core::OnFrameStart(ConnectionId, const FrameHead& head,
                                                  std::span<const std::byte>) {
  return Protocol("{} with a payload of {} bytes, wanted none",
                  wire::KindName(static_cast<wire::Kind>(head.kind)), head.payload_bytes);
}

Status SchedulerNode::Core::OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                                    Landing&&) {
  const Peer peer = peers_.at(id);
  const auto kind = static_cast<wire::Kind>(head.kind);
  LW_RETURN_IF_ERROR(CheckUnread(env_, id, options_.link.unread_bytes_max));
  if (peer.role == wire::pb::ROLE_MONITOR && kind == wire::Kind::kCheckpoint)
    return TakeCheckpointRequest(id, body);
  const bool may_set = peer.role == wire::pb::ROLE_MONITOR || peer.role == wire::pb::ROLE_WORKER;
  if (may_set && kind == wire::Kind::kSetSync) return TakeSetSync(id, body);
  // After the end only last figures count, and questions for them.
  if (over_ && kind != wire::Kind::kReport && kind != wire::Kind::kStatusRequest) return Status::Ok();
  if (kind == wire::Kind::kStatusRequest) return TakeStatusRequest(id, body);
  if (peer.role == wire::pb::ROLE_WORKER)
    return TakeWorkerFrame(id, members_.workers()[peer.seat], kind, body);
  if (peer.role == wire::pb::ROLE_SERVER) return TakeShardFrame(members_.shards()[peer.seat], kind, body);
  return Protocol("{} from a monitor, wanted StatusRequest, Checkpoint or SetSync", wire::KindName(kind));
}

Status SchedulerNode::Core::TakeWorkerFrame(ConnectionId id, WorkerSeat& seat, wire::Kind kind,
                                            std::span<const std::byte> body) {
  if (kind == wire::Kind::kReport) {
    LW_ASSIGN_OR_RETURN(const wire::pb::Report report,
                        TakeReport(reports_.workers[seat.rank], seat.life, body));
    seat.settled = std::max(seat.settled, SaneIteration(report.settled()));
    waits_.OnReport(seat.rank, seat.life, report.waits(), report.acts(), env_.clock.Now());
    return Status::Ok();
  }
  if (kind == wire::Kind::kWhy) return TakeWhy(id, seat, body);
  if (kind == wire::Kind::kWhyReply) return TakeWhyReply(seat, body);
  if (!members_.gathered()) {
    return Protocol("{} from worker {} before the job has gathered", wire::KindName(kind), seat.rank.value());
  }
  switch (kind) {
    case wire::Kind::kDefineTables:
      return TakeDefineTables(id, seat, body);
    case wire::Kind::kBarrier:
      return TakeBarrier(id, seat, body);
    case wire::Kind::kLeaseBatches:
      return TakeLease(id, seat, body);
    case wire::Kind::kRankState:
      return TakeRankState(seat, body);
    case wire::Kind::kLeave:
      return TakeLeave(id, seat, body);
    default:
      return Protocol("{} from worker {}, which a worker does not send to the scheduler",
                      wire::KindName(kind), seat.rank.value());
  }
}

Status SchedulerNode::Core::TakeShardFrame(const ShardSeat& seat, wire::Kind kind,
                                           std::span<const std::byte> body) {
  if (kind == wire::Kind::kReport) return TakeReport(reports_.shards[seat.id], seat.life, body).status();
  if (kind == wire::Kind::kCutReply) return TakeCutReply(seat, body);
  if (kind != wire::Kind::kEpochAck) {
    return Protocol("{} from shard {}, wanted Report, EpochAck or CutReply", wire::KindName(kind),
                    seat.id.value());
  }
  wire::pb::EpochAck ack;
  LW_RETURN_IF_ERROR(ParseControl(kind, body, ack));
  if (Epoch(ack.epoch()) > epoch_) {
    return Protocol("shard {} acknowledged epoch {}, wanted at most {}", seat.id.value(), ack.epoch(),
                    epoch_.value());
  }
  if (Status refused = TakeRefusals(seat, ack); !refused.ok()) {
    Finish(refused);
    return Status::Ok();
  }
  for (const wire::pb::First& first : ack.firsts()) members_.TakeFirst(first);
  ended_lives_.Take(seat.id, {ack.held().data(), static_cast<std::size_t>(ack.held_size())});
  acks_.Ack(seat.id, Epoch(ack.epoch()));
  return Status::Ok();
}

Result<wire::pb::Report> SchedulerNode::Core::TakeReport(NodeReport& report, std::uint64_t life,
                                                         std::span<const std::byte> body) {
  wire::pb::Report message;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kReport, body, message));
  report.Take(message, life, env_.clock.Now());
  return message;
}

Status SchedulerNode::Core::TakeStatusRequest(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::StatusRequest request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kStatusRequest, body, request));
  if (peers_.at(id).role == wire::pb::ROLE_MONITOR) TakeEndedProcesses(request);
  // One answer at a time: it is large, and it is the same for all requests that come meanwhile.
  if (inbound_.IsHeldFor(id)) return Status::Ok();
  Peer& peer = peers_.at(id);
  if (env_.transport.QueuedBytes(id) > kUnreadBytes) {
    if (++peer.unread <= kUnreadRequestsMax) return Status::Ok();
    return ResourceExhausted(
        "{} status requests came, and the answer to an earlier one is still unread; at most {} may",
        peer.unread, kUnreadRequestsMax);
  }
  peer.unread = 0;
  wire::pb::StatusReply reply;
  reply.set_request(request.request());
  reply.set_json(Json());
  inbound_.SendControl(id, wire::Kind::kStatusReply, reply);
  return Status::Ok();
}

Status SchedulerNode::Core::TakeDefineTables(ConnectionId id, const WorkerSeat& seat,
                                             std::span<const std::byte> body) {
  wire::pb::DefineTables request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kDefineTables, body, request));
  if (const auto lost = tables_.FindEmptied(request.seen())) {
    Finish(LostServer(members_.shards()[lost->index()],
                      "was lost with values that workers had set or read, and another has its place"));
    return Status::Ok();
  }
  return Define(id, seat, request);
}

Status SchedulerNode::Core::Define(ConnectionId id, const WorkerSeat& seat,
                                   const wire::pb::DefineTables& request) {
  if (unsettled_ && tables_.Creates(request)) {
    acks_.When(unsettled_->epoch, id, [this, id, &seat, request] { (void)Define(id, seat, request); });
    return Status::Ok();
  }
  const std::size_t tables_before = tables_.all().size();
  wire::pb::TableMap reply;
  reply.set_request(request.request());
  Result<TableRegistry::Defined> defined = tables_.Define(request, epoch_ + 1);
  if (!defined.ok()) {
    reply.set_error(ClippedMessage(defined.status().message()));
    reply.set_error_code(static_cast<std::uint32_t>(defined.status().code()));
    inbound_.SendControl(id, wire::Kind::kTableMap, reply);
    return Status::Ok();
  }
  if (!defined->created.empty()) {
    wire::pb::TableMap change;
    change.set_epoch(NextEpoch().value());
    tables_.AddTo(change, defined->created);
    for (const ShardSeat& shard : members_.shards()) {
      inbound_.SendControl(shard.connection, wire::Kind::kTableMap, change);
    }
    unsettled_ = Unsettled{.tables_before = tables_before, .epoch = epoch_};
    acks_.When(epoch_, ConnectionId{}, [this] { Settle(); });
  }
  // Not before every shard owns its blocks: a worker never reaches a shard that does not know one.
  reply.set_epoch(defined->epoch.value());
  const bool made = !defined->created.empty();
  acks_.When(defined->epoch, id, [this, id, &seat, made, asked = std::move(defined->asked), reply]() mutable {
    if (std::ranges::any_of(asked, [this](TableId table) { return table.index() >= tables_.all().size(); })) {
      reply.set_error(ClippedMessage(last_refusal_.message()));
      reply.set_error_code(static_cast<std::uint32_t>(last_refusal_.code()));
      inbound_.SendControl(id, wire::Kind::kTableMap, reply);
      return;
    }
    // As they are by then: their synchronization may have been changed meanwhile.
    tables_.AddTo(reply, asked);
    for (wire::pb::Table& table : *reply.mutable_tables()) {
      const auto first = seat.own_firsts.find(TableId(table.id()));
      if (first != seat.own_firsts.end()) table.set_first(first->second.value());
    }
    inbound_.SendControl(id, wire::Kind::kTableMap, reply);
    if (made) OnTablesMade();
  });
  return Status::Ok();
}

Status SchedulerNode::Core::TakeBarrier(ConnectionId id, const WorkerSeat& seat,
                                        std::span<const std::byte> body) {
  wire::pb::Barrier barrier;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kBarrier, body, barrier));
  const Status arrived =
      seat.live() ? barriers_.Arrive({seat.rank, barrier.name(), barrier.round(),
                                      Iteration(barrier.iteration()), barrier.steps(), seat.Began()})
                  : FailedPrecondition("barrier \"{}\": worker {} has left the job",
                                       ClippedMessage(barrier.name()), seat.rank.value());
  if (!arrived.ok()) {
    wire::pb::BarrierDone done;
    done.set_name(barrier.name());
    done.set_round(barrier.round());
    done.set_error(arrived.message());
    inbound_.SendControl(id, wire::Kind::kBarrierDone, done);
    return Status::Ok();
  }
  ReleaseBarriers();
  return Status::Ok();
}

void SchedulerNode::Core::ReleaseBarriers() {
  for (const Barriers::Release& release : barriers_.Released(BarrierMembers())) {
    wire::pb::BarrierDone done;
    done.set_name(release.name);
    done.set_round(release.round);
    inbound_.SendControl(members_.workers()[release.worker.index()].connection, wire::Kind::kBarrierDone,
                         done);
  }
}

Status SchedulerNode::Core::TakeLease(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::LeaseBatches request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kLeaseBatches, body, request));
  request.set_iteration(SaneIteration(request.iteration()).value());
  request.set_settled(SaneIteration(request.settled()).value());
  for (std::int64_t& used : *request.mutable_used()) used = SaneIteration(used).value();
  request.set_per_iteration(std::min(request.per_iteration(), kPerIterationMax));
  // In a job without iterations the worker's word says nothing of pushes.
  if (Iteration(request.settled()) < kIterationMax) {
    seat.settled = std::max(seat.settled, Iteration(request.settled()));
  }
  wire::pb::BatchLease lease;
  if (seat.live()) {
    if (pools_.MustWait(request)) {
      waiting_leases_[{seat.rank, request.pool()}] = {id, request};
      return Status::Ok();
    }
    lease = pools_.Lend({seat.rank, seat.incarnation}, request, members_.LiveCount());
  } else {
    lease.set_request(request.request());
    lease.set_error(fmt::format("pool \"{}\": worker {} has left the job", ClippedMessage(request.pool()),
                                seat.rank.value()));
  }
  inbound_.SendControl(id, wire::Kind::kBatchLease, lease);
  return Status::Ok();
}

Status SchedulerNode::Core::TakeLeave(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::Leave leave;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kLeave, body, leave));
  if (seat.live()) {
    members_.Leave(seat, ++epoch_, !pools_.IsDrawing(seat.rank));
    // All of its pushes have their verdicts.
    const Iteration end = SaneIteration(leave.iteration());
    const MemberKey life{seat.rank, seat.incarnation};
    if (MayPatch() && ended_lives_.Left(life, seat.first, end)) AskOfEndedLives({&life, 1});
    pools_.Left(life, end - 1);
    AfterGone();
    LendWaiting();
  }
  wire::pb::Left left;
  left.set_epoch(seat.left_at.value());
  inbound_.SendControl(id, wire::Kind::kLeft, left);
  return Status::Ok();
}

}  // namespace leeway
