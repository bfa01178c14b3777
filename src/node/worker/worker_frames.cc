// Connections and frames: what the scheduler and the shards send.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/worker/worker_node.h"

namespace leeway {
namespace {

template <typename Message, typename Take>
Status Parsed(wire::Kind kind, std::span<const std::byte> body, Take take) {
  google::protobuf::Arena arena;  // of a large job there are many members
  auto& message = *google::protobuf::Arena::CreateMessage<Message>(&arena);
  LW_RETURN_IF_ERROR(ParseControl(kind, body, message));
  take(message);
  return Status::Ok();
}

}  // namespace

void WorkerNode::OnUp(std::uint32_t link, const wire::pb::Welcome& welcome) {
  if (link == 0) {
    OnWelcome(welcome);
  } else {
    intake_.OnUp(training_, link - 1);
    EnterNextPhase();
  }
  due_.Run();
}

void WorkerNode::OnWelcome(const wire::pb::Welcome& welcome) {
  const Result<bool> first = joining_.OnWelcome(welcome);
  if (first.ok() && *first) {
    if (const Status policies = training_.TakeJob(job()); !policies.ok()) return Fail(policies);
    return reporting_.Start();
  }
  ++counters_.reconnects;
  if (!first.ok()) return Fail(first.status());
  requests_.ResendAll();
}

void WorkerNode::OnDown(std::uint32_t link, const Status& why) {
  const Link& lost = link == 0 ? scheduler_ : training_.ports().At(link - 1).link();
  env_.log.Write(LogLevel::kInfo,
                 fmt::format("lost the connection to {}: {}; reconnecting", lost.peer(), why.message()));
}

void WorkerNode::OnFailed(std::uint32_t, const Status& why) {
  if (life_.Is(WorkerPhase::kFinished)) {  // the job may end before this worker says goodbye
    life_.OnPeerGone(why);
    intake_.reads().FailAll(why);
  } else {
    Fail(why);
  }
  due_.Run();
}

void WorkerNode::OnRoster(const wire::pb::Roster& roster) {
  const Result<std::optional<Joining::News>> taken = joining_.OnRoster(roster);
  if (!taken.ok()) return Fail(taken.status());
  if (!taken->has_value()) return;
  const Joining::News& news = **taken;
  if (news.entered && life_.Is(WorkerPhase::kJoining)) {
    training_.BeginAt(Iteration(news.entered->first()));
    if (news.entered->has_restore()) {
      client_state_.Read(news.entered->restore(), rank(), [this](const Status& read) {
        if (read.ok()) {
          EnterNextPhase();
        } else {
          Fail(read);
        }
        due_.Run();
      });
    }
    Result<std::vector<std::unique_ptr<Link>>> links = joining_.LinkShards(env_, *this);
    if (!links.ok()) return Fail(links.status());
    for (std::size_t i = 0; i < links->size(); ++i)
      training_.ports().Add(std::move((*links)[i]), joining_.roster().shards()[i].server());
    for (const std::unique_ptr<ShardPort>& port : training_.ports().all()) port->link().Start();
  }
  for (const std::size_t shard : news.replaced) {
    if (shard < training_.ports().all().size()) intake_.OnReplaced(training_, shard);
  }
  EnterNextPhase();
}

Result<Landing> WorkerNode::OnFrameStart(std::uint32_t link, const FrameHead& head,
                                         std::span<const std::byte> body) {
  const auto kind = static_cast<wire::Kind>(head.kind);
  if (link == 0 || (kind != wire::Kind::kAnswers && kind != wire::Kind::kArrays)) {
    return Protocol("a {} frame with a payload, wanted none but Answers and Arrays", wire::KindName(kind));
  }
  const ShardPort& port = training_.ports().At(link - 1);
  return intake_.OnFrameStart(training_, port, head, body);
}

void WorkerNode::OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
                         Landing&& landing) {
  Status status;
  if (link == 0) {
    status = OnSchedulerFrame(static_cast<wire::Kind>(head.kind), body);
  } else {
    ShardPort& port = training_.ports().At(link - 1);
    counters_.bytes_received += head.body_bytes + head.payload_bytes;
    status = OnShardFrame(port, head, body, landing);
    if (status.ok() && !life_.Is(WorkerPhase::kFailed)) port.Flush();
    if (!status.ok()) status = status.WithContext(port.link().peer());
  }
  if (!status.ok()) Fail(status);
  due_.Run();
}

Status WorkerNode::OnShardFrame(ShardPort& port, const FrameHead& head, std::span<const std::byte> body,
                                Landing& landing) {
  const auto kind = static_cast<wire::Kind>(head.kind);
  switch (kind) {
    case wire::Kind::kVerdicts:
      LW_RETURN_IF_ERROR(intake_.OnVerdicts(training_, port, body, head.payload_bytes));
      AfterVerdicts();
      return Status::Ok();
    case wire::Kind::kResumed:
      LW_RETURN_IF_ERROR(intake_.OnResumed(training_, port, body, head.payload_bytes));
      AfterVerdicts();
      return Status::Ok();
    case wire::Kind::kAnswers:
      LW_RETURN_IF_ERROR(intake_.OnAnswers(training_, port, body, landing));
      EnterNextPhase();
      return Status::Ok();
    case wire::Kind::kArrays:
      return intake_.OnArrays(training_, port, body, landing);
    case wire::Kind::kWhyReply:
      return Parsed<wire::pb::WhyReply>(kind, body,
                                        [this](const auto& message) { reporting_.OnReply(message, false); });
    default:
      return Protocol("a {} frame, wanted Verdicts, Resumed, Answers, Arrays or WhyReply",
                      wire::KindName(kind));
  }
}

Status WorkerNode::OnSchedulerFrame(wire::Kind kind, std::span<const std::byte> body) {
  switch (kind) {
    case wire::Kind::kRoster:
      return Parsed<wire::pb::Roster>(kind, body, [this](const auto& message) { OnRoster(message); });
    case wire::Kind::kTableMap:
      return Parsed<wire::pb::TableMap>(kind, body, [this](const auto& message) {
        if (message.request() != 0) return requests_.OnTableMap(message);
        // The scheduler's word, unasked: other models from now on.
        if (const Status taken = training_.Switch(message); !taken.ok()) Fail(taken);
      });
    case wire::Kind::kBarrierDone:
      return Parsed<wire::pb::BarrierDone>(kind, body,
                                           [this](const auto& message) { requests_.OnBarrierDone(message); });
    case wire::Kind::kBatchLease:
      return Parsed<wire::pb::BatchLease>(kind, body,
                                          [this](const auto& message) { requests_.OnBatchLease(message); });
    case wire::Kind::kSetSyncReply:
      return Parsed<wire::pb::SetSyncReply>(
          kind, body, [this](const auto& message) { requests_.OnSetSyncReply(message); });
    case wire::Kind::kCut:
      return Parsed<wire::pb::Cut>(kind, body, [this](const auto& message) {
        const Iteration at(message.iteration());
        training_.exchange().OnCut(at);
        client_state_.OnCut(message, joining_.self(), iteration(), training_.LacksAt(at));
      });
    case wire::Kind::kWhy:
      return Parsed<wire::pb::Why>(kind, body, [this](const auto& message) { reporting_.OnSurvey(message); });
    case wire::Kind::kWhyReply:
      return Parsed<wire::pb::WhyReply>(kind, body,
                                        [this](const auto& message) { reporting_.OnReply(message, true); });
    case wire::Kind::kLeft:
      return Parsed<wire::pb::Left>(kind, body, [this](const auto& message) { requests_.OnLeft(message); });
    case wire::Kind::kJobEnd:
      return Parsed<wire::pb::JobEnd>(kind, body, [this](const auto& message) {
        if (life_.Is(WorkerPhase::kFinished)) return;
        Fail(message.code() != 0 ? StatusFromWire(message.code(), message.message())
                                 : Cancelled("the job has ended before this worker left it"));
      });
    default:
      return Protocol("the scheduler sent a {} frame, which is none for a worker", wire::KindName(kind));
  }
}

void WorkerNode::AfterVerdicts() {
  // At once: this worker may be killed before its next beat, and nobody else knows.
  if (intake_.moves().TakeLost()) reporting_.Report();
  client_state_.AnswerIfSettled();
  EnterNextPhase();
  training_.AfterVerdicts();
}

}  // namespace leeway
