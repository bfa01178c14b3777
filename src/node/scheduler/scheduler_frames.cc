// The frames of the scheduler's peers, and requests for checkpoints.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/scheduler_parts.h"
#include "node/scheduler/wait_review.h"
#include "node/unread.h"

namespace leeway {
namespace {

constexpr std::uint32_t kPerIterationMax = 1U << 20;

// As a peer says it: within what jobs have, so that nothing overflows.
Iteration SaneIteration(std::int64_t said) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  return said == kIterationMax.value() ? kIterationMax : Iteration(std::clamp<std::int64_t>(said, 0, kEnd));
}

}  // namespace

Result<Landing> SchedulerNode::OnFrameStart(ConnectionId, const FrameHead& head, std::span<const std::byte>) {
  return Protocol("{} with a payload of {} bytes, wanted none",
                  wire::KindName(static_cast<wire::Kind>(head.kind)), head.payload_bytes);
}

Status SchedulerNode::OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                              Landing&&) {
  const JobPeers::Peer peer = parts_->peers.at(id);
  const auto kind = static_cast<wire::Kind>(head.kind);
  LW_RETURN_IF_ERROR(CheckUnread(env_, id, parts_->options.link.unread_bytes_max));
  if (peer.role == wire::pb::ROLE_MONITOR && kind == wire::Kind::kCheckpoint)
    return TakeCheckpointRequest(id, body);
  const bool may_set = peer.role == wire::pb::ROLE_MONITOR || peer.role == wire::pb::ROLE_WORKER;
  if (may_set && kind == wire::Kind::kSetSync) {
    wire::pb::SetSync request;
    LW_RETURN_IF_ERROR(ParseControl(kind, body, request));
    parts_->rules.Set(id, peer.life, request, parts_->CheckTraining(), parts_->tables());
    return Status::Ok();
  }
  // After the end only last figures count, and questions for them.
  if (parts_->end.over() && kind != wire::Kind::kReport && kind != wire::Kind::kStatusRequest)
    return Status::Ok();
  if (kind == wire::Kind::kStatusRequest) return TakeStatusRequest(id, body);
  if (peer.role == wire::pb::ROLE_WORKER)
    return TakeWorkerFrame(id, parts_->members.workers()[peer.seat], kind, body);
  if (peer.role == wire::pb::ROLE_SERVER)
    return TakeShardFrame(parts_->members.shards()[peer.seat], kind, body);
  return Protocol("{} from a monitor, wanted StatusRequest, Checkpoint or SetSync", wire::KindName(kind));
}

Status SchedulerNode::TakeWorkerFrame(ConnectionId id, WorkerSeat& seat, wire::Kind kind,
                                      std::span<const std::byte> body) {
  if (kind == wire::Kind::kReport) {
    wire::pb::Report report;
    LW_RETURN_IF_ERROR(ParseControl(kind, body, report));
    parts_->reports.workers[seat.rank].Take(report, seat.life, env_.clock.Now());
    seat.settled = std::max(seat.settled, SaneIteration(report.settled()));
    parts_->waits.OnReport(seat.rank, seat.life, report.waits(), report.acts(), env_.clock.Now());
    return Status::Ok();
  }
  if (kind == wire::Kind::kWhy) return TakeWhy(id, seat, body);
  if (kind == wire::Kind::kWhyReply) {
    wire::pb::WhyReply reply;
    LW_RETURN_IF_ERROR(ParseControl(kind, body, reply));
    LW_ASSIGN_OR_RETURN(WaitGraph::Answer answer,
                        ReadAnswer(reply, seat.rank, parts_->barriers, parts_->members));
    parts_->waits.OnAnswer(seat.rank, seat.life, reply.request(), std::move(answer));
    return Status::Ok();
  }
  if (!parts_->members.gathered()) {
    return Protocol("{} from worker {} before the job has gathered", wire::KindName(kind), seat.rank.value());
  }
  switch (kind) {
    case wire::Kind::kDefineTables:
      return TakeDefineTables(id, seat, body);
    case wire::Kind::kBarrier:
      return TakeBarrier(id, seat, body);
    case wire::Kind::kLeaseBatches:
      return TakeLease(id, seat, body);
    case wire::Kind::kRankState: {
      wire::pb::RankState state;
      LW_RETURN_IF_ERROR(ParseControl(kind, body, state));
      parts_->writer.TakeRankState(parts_->AsCut(), seat, state);
      return Status::Ok();
    }
    case wire::Kind::kLeave:
      return TakeLeave(id, seat, body);
    default:
      return Protocol("{} from worker {}, which a worker does not send to the scheduler",
                      wire::KindName(kind), seat.rank.value());
  }
}

Status SchedulerNode::TakeShardFrame(const ShardSeat& seat, wire::Kind kind,
                                     std::span<const std::byte> body) {
  if (kind == wire::Kind::kReport) {
    wire::pb::Report report;
    LW_RETURN_IF_ERROR(ParseControl(kind, body, report));
    parts_->reports.shards[seat.id].Take(report, seat.life, env_.clock.Now());
    return Status::Ok();
  }
  if (kind == wire::Kind::kCutReply) {
    wire::pb::CutReply reply;
    LW_RETURN_IF_ERROR(ParseControl(kind, body, reply));
    parts_->writer.TakeCutReply(parts_->AsCut(), seat, reply);
    return Status::Ok();
  }
  if (kind != wire::Kind::kEpochAck) {
    return Protocol("{} from shard {}, wanted Report, EpochAck or CutReply", wire::KindName(kind),
                    seat.id.value());
  }
  wire::pb::EpochAck ack;
  LW_RETURN_IF_ERROR(ParseControl(kind, body, ack));
  if (Epoch(ack.epoch()) > parts_->peers.epoch()) {
    return Protocol("shard {} acknowledged epoch {}, wanted at most {}", seat.id.value(), ack.epoch(),
                    parts_->peers.epoch().value());
  }
  if (Status refused = parts_->definitions.TakeRefusals(seat, ack); !refused.ok()) {
    Finish(refused);
    return Status::Ok();
  }
  for (const wire::pb::First& first : ack.firsts()) parts_->members.TakeFirst(first);
  parts_->departures.ended().Take(seat.id, {ack.held().data(), static_cast<std::size_t>(ack.held_size())});
  parts_->peers.Ack(seat.id, Epoch(ack.epoch()));
  CheckDone();  // the end may have waited for this
  return Status::Ok();
}

Status SchedulerNode::TakeStatusRequest(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::StatusRequest request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kStatusRequest, body, request));
  const bool is_monitor = parts_->peers.at(id).role == wire::pb::ROLE_MONITOR;
  // A launcher saw their processes end: these lives are dead at once, without waiting for expel_after.
  for (const wire::pb::Life& life : request.ended()) {
    Membership& members = parts_->members;
    if (!is_monitor || parts_->end.over() || !members.gathered() || life.worker() >= members.workers().size())
      continue;
    WorkerSeat& seat = members.workers()[life.worker()];
    // A later life may have the seat by now; one that left is no loss.
    if (!seat.live() || seat.incarnation != Incarnation(life.incarnation())) continue;
    DeclareDead(seat, "its process has ended");
    CheckDone();
    parts_->log.CommitSoon();
  }
  LW_ASSIGN_OR_RETURN(const bool may_answer, parts_->peers.MayAnswerStatus(id));
  if (!may_answer) return Status::Ok();
  wire::pb::StatusReply reply;
  reply.set_request(request.request());
  reply.set_json(StatusJson());
  parts_->peers.Send(id, wire::Kind::kStatusReply, reply);
  return Status::Ok();
}

void SchedulerNode::RequestCheckpoint(CheckpointRequests::Done done) {
  if (Status may = parts_->CheckCheckpoint(); !may.ok()) return done({std::move(may), 0, Iteration(-1), {}});
  parts_->writer.Request(std::move(done));
  ReviewCheckpoints();
}

Status SchedulerNode::TakeCheckpointRequest(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::Checkpoint request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kCheckpoint, body, request));
  const auto reply = [this, id, number = request.request()](const CheckpointOutcome& outcome) {
    parts_->peers.Send(id, wire::Kind::kCheckpointReply, ToReply(number, outcome));
  };
  const Status may = parts_->CheckCheckpoint();
  if (!may.ok() || !request.wait()) reply({may, 0, Iteration(-1), {}});
  if (!may.ok()) return Status::Ok();
  parts_->writer.Request(id, request.wait() ? CheckpointRequests::Done(reply) : nullptr);
  ReviewCheckpoints();
  return Status::Ok();
}

Status SchedulerNode::TakeDefineTables(ConnectionId id, const WorkerSeat& seat,
                                       std::span<const std::byte> body) {
  wire::pb::DefineTables request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kDefineTables, body, request));
  if (const auto lost = parts_->tables().FindEmptied(request.seen())) {
    Finish(parts_->restore_point.LostServer(
        parts_->members.shards()[lost->index()],
        "was lost with values that workers had set or read, and another has its place"));
    return Status::Ok();
  }
  parts_->definitions.Define(id, request, [&seat](wire::pb::TableMap& reply) {
    for (wire::pb::Table& table : *reply.mutable_tables()) {
      const auto first = seat.own_firsts.find(TableId(table.id()));
      if (first != seat.own_firsts.end()) table.set_first(first->second.value());
    }
  });
  return Status::Ok();
}

Status SchedulerNode::TakeBarrier(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::Barrier barrier;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kBarrier, body, barrier));
  const Status arrived =
      seat.live() ? parts_->barriers.Arrive({seat.rank, barrier.name(), barrier.round(),
                                             Iteration(barrier.iteration()), barrier.steps(), seat.Began()})
                  : FailedPrecondition("barrier \"{}\": worker {} has left the job",
                                       ClippedMessage(barrier.name()), seat.rank.value());
  if (!arrived.ok()) {
    wire::pb::BarrierDone done;
    done.set_name(barrier.name());
    done.set_round(barrier.round());
    done.set_error(arrived.message());
    parts_->peers.Send(id, wire::Kind::kBarrierDone, done);
    return Status::Ok();
  }
  ReleaseBarriers();
  return Status::Ok();
}

void SchedulerNode::ReleaseBarriers() {
  for (const Barriers::Release& release : parts_->barriers.Released(BarrierMembers(parts_->members))) {
    wire::pb::BarrierDone done;
    done.set_name(release.name);
    done.set_round(release.round);
    const WorkerSeat& seat = parts_->members.workers()[release.worker.index()];
    parts_->peers.Send(seat.connection, wire::Kind::kBarrierDone, done);
  }
}

Status SchedulerNode::TakeWhy(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::Why why;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kWhy, body, why));
  parts_->peers.HearConnected(parts_->members);
  wire::pb::WhyReply reply = ExplainWait({why, seat.rank, env_.clock.Now()}, parts_->members,
                                         parts_->barriers, parts_->reports, parts_->waits);
  if (!parts_->members.gathered())
    reply.set_not_here(parts_->prepared ? parts_->members.Missing() : "the checkpoint to begin from");
  parts_->peers.Send(id, wire::Kind::kWhyReply, reply);
  return Status::Ok();
}

Status SchedulerNode::TakeLease(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body) {
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
  std::optional<wire::pb::BatchLease> lease;
  if (seat.live()) {
    lease = parts_->departures.Lend(seat, parts_->members.LiveCount(), request);
  } else {
    lease.emplace();
    lease->set_request(request.request());
    lease->set_error(fmt::format("pool \"{}\": worker {} has left the job", ClippedMessage(request.pool()),
                                 seat.rank.value()));
  }
  if (lease) parts_->peers.Send(id, wire::Kind::kBatchLease, *lease);
  return Status::Ok();
}

Status SchedulerNode::TakeLeave(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::Leave leave;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kLeave, body, leave));
  if (seat.live()) {
    parts_->members.Leave(seat, parts_->peers.RaiseEpoch(), !parts_->departures.pools().IsDrawing(seat.rank));
    // All of its pushes have their verdicts.
    parts_->departures.OnLeft(seat, SaneIteration(leave.iteration()));
    AfterGone();
    parts_->departures.LendWaiting(parts_->members);
  }
  wire::pb::Left left;
  left.set_epoch(seat.left_at.value());
  parts_->peers.Send(id, wire::Kind::kLeft, left);
  return Status::Ok();
}

}  // namespace leeway
