// What a shard does with the frames of workers.
#include <memory>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/server/core.h"
#include "node/server/landed.h"
#include "node/server/why.h"
#include "node/unread.h"
#include "wire/frame.h"

namespace leeway {

Result<Landing> ServerNode::Core::OnFrameStart(ConnectionId id, const FrameHead& head,
                                               std::span<const std::byte> body) {
  const MemberKey from = *sessions_.Find(id);
  const auto kind = static_cast<wire::Kind>(head.kind);
  if (kind == wire::Kind::kPush) {
    LW_ASSIGN_OR_RETURN(const auto landed, LandPush(head, body, from, blocks_, pool_, spare_pushes_));
    return landed->Places(landed);
  }
  if (kind == wire::Kind::kInit) {
    LW_ASSIGN_OR_RETURN(const auto landed, LandInit(head, body, from, blocks_, pool_));
    return landed->Places(landed);
  }
  if (kind == wire::Kind::kAssign) {
    LW_ASSIGN_OR_RETURN(const auto landed, LandAssign(head, body, from, blocks_, pool_));
    return landed->Places(landed);
  }
  return Protocol("{} with a payload of {} bytes, wanted none", wire::KindName(kind), head.payload_bytes);
}

Status ServerNode::Core::OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                                 Landing&& landing) {
  ++traffic_.frames_in;
  traffic_.bytes_in += wire::kHeaderBytes + head.body_bytes + head.payload_bytes;
  const MemberKey from = *sessions_.Find(id);
  // A worker pulls a block again only once it has the answer: one answer per block, and some that are on
  // their way out.
  LW_RETURN_IF_ERROR(CheckUnread(env_, id, options_.link.unread_bytes_max + 2 * blocks_.bytes()));
  Status taken;
  switch (const auto kind = static_cast<wire::Kind>(head.kind); kind) {
    case wire::Kind::kPush:
      taken = TakePush(from, head, body, std::move(landing));
      break;
    case wire::Kind::kInit:
      taken = TakeInit(from, head, body, std::move(landing));
      break;
    case wire::Kind::kAbsent:
      taken = TakeAbsent(from, body);
      break;
    case wire::Kind::kPull:
      taken = TakePull(from, body);
      break;
    case wire::Kind::kAssign:
      taken = TakeAssign(from, head, body, std::move(landing));
      break;
    case wire::Kind::kRead:
      taken = TakeRead(id, from, body);
      break;
    case wire::Kind::kWhy:
      return TakeWhy(id, from.worker, body);
    default:
      return Protocol("{} from a worker, wanted Init, Push, Absent, Pull, Assign, Read or Why",
                      wire::KindName(kind));
  }
  Flush();
  AcknowledgeWhatWaits();
  return taken;
}

Status ServerNode::Core::TakePush(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                                  Landing&& landing) {
  auto landed = std::static_pointer_cast<LandedPush>(std::move(landing.lease));
  if (landed == nullptr) {
    LW_ASSIGN_OR_RETURN(
        landed, LandPush(head, body, from, blocks_, pool_, spare_pushes_));  // a frame without any payload
  }
  const wire::Push& push = landed->message;
  PushEvent event{.from = from,
                  .term = {},
                  .seq = {},
                  .iteration = push.iteration,
                  .base_version = {},
                  .samples = push.samples,
                  .steps = push.steps,
                  .hyper = push.hyper};
  const TimePoint now = env_.clock.Now();
  Dealer<wire::Push> dealer(*landed, landing);
  for (const wire::PushEntry& entry : push.entries) {
    LW_ASSIGN_OR_RETURN(Gradient gradient, dealer.Next(entry.payload_bytes));
    // Without memory the block gets an empty gradient, which it refuses: that consumes the sequence.
    Block* block = dealer.Starved() ? NoteStarved(entry.block) : FindFor(entry.block, gradient);
    if (block == nullptr) {
      SayMoved(from, entry.block, entry.term, entry.seq);
      continue;
    }
    event.term = entry.term;
    event.seq = entry.seq;
    event.base_version = entry.base_version;
    takeover_.Hear(*block, entry.term, from);
    block->OnPush(event, std::move(gradient), now);
  }
  spare_pushes_.Return(std::move(landed));
  return Status::Ok();
}

Status ServerNode::Core::TakeInit(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                                  Landing&& landing) {
  auto landed = std::static_pointer_cast<LandedInit>(std::move(landing.lease));
  if (landed == nullptr) {
    LW_ASSIGN_OR_RETURN(landed, LandInit(head, body, from, blocks_, pool_));
  }
  const TimePoint now = env_.clock.Now();
  Dealer<wire::Init> dealer(*landed, landing);
  for (const wire::InitEntry& entry : landed->message.entries) {
    LW_ASSIGN_OR_RETURN(Gradient values, dealer.Next(entry.payload_bytes));
    Block* block = dealer.Starved() ? NoteStarved(entry.block) : FindFor(entry.block, values);
    if (block == nullptr) {
      SayMoved(from, entry.block, entry.term, Seq(0));
      continue;
    }
    block->OnInit(from, entry.term, std::move(values), now);
  }
  return Status::Ok();
}

Status ServerNode::Core::TakeAbsent(MemberKey from, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, absent_));
  LW_RETURN_IF_ERROR(CheckSender({absent_.worker, absent_.incarnation}, from, wire::Kind::kAbsent));
  const TimePoint now = env_.clock.Now();
  for (const wire::AbsentEntry& entry : absent_.entries) {
    if (Block* block = blocks_.Find(entry.block); block != nullptr) {
      takeover_.Hear(*block, entry.term, from);
      const bool idle = (entry.flags & wire::AbsentEntry::kIdle) != 0;
      block->OnAbsent({from, entry.term, entry.seq, absent_.iteration, idle}, now);
    } else {
      SayMoved(from, entry.block, entry.term, entry.seq);
    }
  }
  return Status::Ok();
}

Status ServerNode::Core::TakePull(MemberKey from, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, pull_));
  LW_RETURN_IF_ERROR(CheckSender({pull_.worker, pull_.incarnation}, from, wire::Kind::kPull));
  const TimePoint now = env_.clock.Now();
  for (const wire::PullEntry& entry : pull_.entries) {
    Block* block = blocks_.Find(entry.block);
    if (block == nullptr) {
      SayMoved(from, entry.block, entry.term, Seq(0));
      continue;
    }
    const std::uint64_t delayed = block->counters().delayed;
    block->OnPull({.from = from,
                   .term = entry.term,
                   .progress = entry.progress,
                   .cached_version = entry.cached_version,
                   .epoch_min = pull_.epoch_min,
                   .observer = pull_.observer,
                   .significance = entry.significance},
                  now);
    if (block->counters().delayed == delayed) continue;
    delayed_pulls_.Note(from, entry.progress);
    table_reports_.NoteDelay(block->table(), from, entry.progress);
  }
  return Status::Ok();
}

Status ServerNode::Core::TakeWhy(ConnectionId id, WorkerId asks, std::span<const std::byte> body) {
  wire::pb::Why why;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kWhy, body, why));
  inbound_.SendControl(id, wire::Kind::kWhyReply, ExplainBlock(why, asks, blocks_));
  return Status::Ok();
}

Block* ServerNode::Core::FindFor(BlockId id, const Gradient& landed) const {
  Block* block = blocks_.Find(id);
  return block != nullptr && !landed.values().empty() && landed.values().size() == block->elements()
             ? block
             : nullptr;
}

Block* ServerNode::Core::NoteStarved(BlockId id) {
  Block* const block = blocks_.Find(id);
  ++traffic_.no_memory;
  if (block != nullptr) {
    strained_.Warn(
        fmt::format("table \"{}\" block {}: no memory for a push of {} bytes, which is refused; give the "
                    "server more memory, or start more servers",
                    blocks_.TableName(*block), id.value(), block->elements() * sizeof(float)));
  }
  return block;
}

void ServerNode::Core::SayMoved(MemberKey to, BlockId block, Term term, Seq seq) {
  ++traffic_.moved;
  outbox_.AddVerdict(to, {block, term, seq, wire::Verdict::kMoved, Iteration(0)});
}

}  // namespace leeway
