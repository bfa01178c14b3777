#include "node/server/worker_frames.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "node/push_flow.h"

namespace leeway {
namespace {

// Builds the frames that answer one read. A frame has at most so many bytes of payload, unless a single array
// is larger. Pins the arrays and copies nothing.
class ArraysFrames {
 public:
  using Send = std::function<void(std::span<const std::byte> body, std::span<const Pinned> payload)>;
  ArraysFrames(MemberKey to, std::uint64_t request, std::uint64_t payload_bytes_max, Send send)
      : payload_bytes_max_(payload_bytes_max), send_(std::move(send)) {
    message_.worker = to.worker;
    message_.incarnation = to.incarnation;
    message_.request = request;
  }

  // `array` null: without a payload.
  void Add(wire::ArraysEntry entry, const ConstBufferRef& array) {
    const std::uint64_t bytes = array == nullptr ? 0 : array->bytes().size();
    if ((payload_bytes_ > 0 && payload_bytes_ + bytes > payload_bytes_max_) ||
        message_.entries.size() == wire::kEntriesMax)
      Flush();
    entry.payload_bytes = static_cast<std::uint32_t>(bytes);
    message_.entries.push_back(entry);
    payload_bytes_ += bytes;
    if (array != nullptr) payload_.push_back({array->bytes(), array});
  }

  void Flush() {
    if (message_.entries.empty()) return;
    std::vector<std::byte> body;
    wire::Encode(message_, body);
    send_(body, payload_);
    message_.entries.clear();
    payload_.clear();
    payload_bytes_ = 0;
  }

 private:
  const std::uint64_t payload_bytes_max_;
  const Send send_;
  wire::Arrays message_;
  std::vector<Pinned> payload_;
  std::uint64_t payload_bytes_ = 0;
};

}  // namespace

WorkerFrames::WorkerFrames(Env& env, const BlockStore& blocks, BufferPool& pool,
                           std::uint64_t payload_bytes_max, std::uint32_t shard, Events events)
    : clock_(env.clock),
      trace_(env.trace),
      track_(1 + shard),
      blocks_(blocks),
      pool_(pool),
      payload_bytes_max_(payload_bytes_max),
      events_(std::move(events)),
      strained_(env.clock, env.log) {}

template <typename Message>
Result<std::shared_ptr<Landed<Message>>> WorkerFrames::Decode(MemberKey from, const FrameHead& head,
                                                              std::span<const std::byte> body) {
  std::shared_ptr<Landed<Message>> landed;
  if constexpr (std::is_same_v<Message, wire::Push>) {
    landed = spare_pushes_.Take();
  } else {
    landed = std::make_shared<Landed<Message>>();
  }
  LW_RETURN_IF_ERROR(DecodeLanded(head, body, from, blocks_, pool_, *landed));
  return landed;
}

Result<Landing> WorkerFrames::Land(MemberKey from, const FrameHead& head, std::span<const std::byte> body) {
  const auto places = [](const auto& landed) -> Result<Landing> {
    if (!landed.ok()) return landed.status();
    return (*landed)->Places(*landed);
  };
  switch (const auto kind = static_cast<wire::Kind>(head.kind); kind) {
    case wire::Kind::kPush:
      return places(Decode<wire::Push>(from, head, body));
    case wire::Kind::kInit:
      return places(Decode<wire::Init>(from, head, body));
    case wire::Kind::kAssign:
      return places(Decode<wire::Assign>(from, head, body));
    default:
      return Protocol("{} with a payload of {} bytes, wanted none", wire::KindName(kind), head.payload_bytes);
  }
}

Status WorkerFrames::CheckKind(wire::Kind kind) {
  switch (kind) {
    case wire::Kind::kPush:
    case wire::Kind::kInit:
    case wire::Kind::kAbsent:
    case wire::Kind::kPull:
    case wire::Kind::kAssign:
    case wire::Kind::kRead:
    case wire::Kind::kResume:
      return Status::Ok();
    default:
      return Protocol("{} from a worker, wanted Init, Push, Absent, Resume, Pull, Assign, Read or Why",
                      wire::KindName(kind));
  }
}

Status WorkerFrames::Take(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                          Landing&& landing, bool takeover) {
  switch (const auto kind = static_cast<wire::Kind>(head.kind); kind) {
    case wire::Kind::kPush:
      return TakePush(from, head, body, std::move(landing), takeover);
    case wire::Kind::kInit:
      return TakeInit(from, head, body, std::move(landing));
    case wire::Kind::kAbsent:
      return TakeAbsent(from, body, takeover);
    case wire::Kind::kResume:
      return TakeResume(from, body, takeover);
    case wire::Kind::kPull:
      return TakePull(from, body);
    case wire::Kind::kAssign:
      return TakeAssign(from, head, body, std::move(landing));
    case wire::Kind::kRead:
      return TakeRead(from, body);
    default:
      return CheckKind(kind);
  }
}

template <typename Entry>
void WorkerFrames::SayMoved(MemberKey to, const Entry& entry) {
  ++moved_;
  Seq seq(0);  // of entries that have none
  if constexpr (requires { entry.seq; }) seq = entry.seq;
  events_.moved(to, {entry.block, entry.term, seq, wire::Verdict::kMoved, Iteration(0)});
}

template <typename Message>
Result<std::shared_ptr<Landed<Message>>> WorkerFrames::Open(MemberKey from, const FrameHead& head,
                                                            std::span<const std::byte> body,
                                                            Landing& landing) {
  auto landed = std::static_pointer_cast<Landed<Message>>(std::move(landing.lease));
  if (landed == nullptr) return Decode<Message>(from, head, body);  // a frame without any payload
  return landed;
}

template <typename Message, typename Call>
Status WorkerFrames::Deal(MemberKey from, Landed<Message>& landed, const Landing& landing, Call call) {
  Dealer<Message> dealer(landed, landing);
  for (const auto& entry : landed.message.entries) {
    LW_ASSIGN_OR_RETURN(Gradient values, dealer.Next(entry.payload_bytes));
    // Without memory the block gets empty values, which it refuses. A push consumes its sequence by that.
    Block* block = dealer.Starved() ? NoteStarved(entry.block) : FindFor(entry.block, values);
    if (block != nullptr) {
      call(*block, entry, std::move(values));
    } else {
      SayMoved(from, entry);
    }
  }
  return Status::Ok();
}

Status WorkerFrames::TakePush(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                              Landing&& landing, bool takeover) {
  const TimePoint now = clock_.Now();
  LW_ASSIGN_OR_RETURN(std::shared_ptr<LandedPush> landed, Open<wire::Push>(from, head, body, landing));
  const wire::Push& push = landed->message;
  PushEvent event{.from = from,
                  .iteration = push.iteration,
                  .samples = push.samples,
                  .steps = push.steps,
                  .hyper = push.hyper};
  const bool traced = trace_ != nullptr && trace_->Wants(push.iteration);
  const auto call = [&](Block& block, const wire::PushEntry& entry, Gradient gradient) {
    if (takeover) events_.heard(block, entry.term, from);
    event.term = entry.term;
    event.seq = entry.seq;
    event.base_version = entry.base_version;
    const TimePoint from_time = traced ? trace_->Now() : TimePoint();
    block.OnPush(event, std::move(gradient), now);
    if (traced) TracePush(event, block, from_time);
  };
  LW_RETURN_IF_ERROR(Deal(from, *landed, landing, call));
  if (traced) trace_->Flush();
  spare_pushes_.Return(std::move(landed));
  return Status::Ok();
}

void WorkerFrames::TracePush(const PushEvent& push, const Block& block, TimePoint began) const {
  TraceEvent event{.kind = TraceEvent::Kind::kFlowIn,
                   .name = kPushFlow,
                   .iteration = push.iteration,
                   .id = PushFlowId(push.from.worker, push.from.incarnation, block.id(), push.seq),
                   .at = began,
                   .track = track_};
  trace_->Add(event);
  event.kind = TraceEvent::Kind::kSlice;
  event.name = "apply";
  const std::string of = fmt::format("{} of worker {}", blocks_.TableName(block), push.from.worker.value());
  event.of = of;
  event.until = trace_->Now();
  trace_->Add(event);
}

Status WorkerFrames::TakeInit(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                              Landing&& landing) {
  LW_ASSIGN_OR_RETURN(const auto landed, Open<wire::Init>(from, head, body, landing));
  const auto call = [from, now = clock_.Now()](Block& block, const wire::InitEntry& entry, Gradient values) {
    block.OnInit(from, entry.term, std::move(values), now);
  };
  return Deal(from, *landed, landing, call);
}

Status WorkerFrames::TakeAssign(MemberKey from, const FrameHead& head, std::span<const std::byte> body,
                                Landing&& landing) {
  LW_ASSIGN_OR_RETURN(const auto landed, Open<wire::Assign>(from, head, body, landing));
  const auto call = [from](Block& block, const wire::AssignEntry& entry, Gradient array) {
    block.OnAssign({.from = from,
                    .term = entry.term,
                    .seq = entry.seq,
                    .base_version = entry.base_version,
                    .steps = entry.steps,
                    .array = entry.array},
                   std::move(array));
  };
  return Deal(from, *landed, landing, call);
}

Status WorkerFrames::TakeAbsent(MemberKey from, std::span<const std::byte> body, bool takeover) {
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, absent_));
  LW_RETURN_IF_ERROR(CheckSender({absent_.worker, absent_.incarnation}, from, wire::Kind::kAbsent));
  const TimePoint now = clock_.Now();
  for (const wire::AbsentEntry& entry : absent_.entries) {
    if (Block* block = blocks_.Find(entry.block); block != nullptr) {
      if (takeover) events_.heard(*block, entry.term, from);
      const bool idle = (entry.flags & wire::AbsentEntry::kIdle) != 0;
      block->OnAbsent({from, entry.term, entry.seq, absent_.iteration, idle}, now);
    } else {
      SayMoved(from, entry);
    }
  }
  return Status::Ok();
}

Status WorkerFrames::TakeResume(MemberKey from, std::span<const std::byte> body, bool takeover) {
  wire::Resume resume;
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, resume));
  LW_RETURN_IF_ERROR(CheckSender({resume.worker, resume.incarnation}, from, wire::Kind::kResume));
  const TimePoint now = clock_.Now();
  for (const wire::ResumeEntry& entry : resume.entries) {
    if (Block* block = blocks_.Find(entry.block); block != nullptr) {
      if (takeover) events_.heard(*block, entry.term, from);
      block->OnResume({from, entry.term, entry.next}, now);
    } else {
      SayMoved(from, entry);
    }
  }
  return Status::Ok();
}

Status WorkerFrames::TakePull(MemberKey from, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, pull_));
  LW_RETURN_IF_ERROR(CheckSender({pull_.worker, pull_.incarnation}, from, wire::Kind::kPull));
  const TimePoint now = clock_.Now();
  for (const wire::PullEntry& entry : pull_.entries) {
    Block* block = blocks_.Find(entry.block);
    if (block == nullptr) {
      SayMoved(from, entry);
      continue;
    }
    if ((pull_.flags & wire::Pull::kNewestOnly) != 0) events_.wants_newest(from, entry.block, entry.ask);
    std::optional<std::uint8_t> priority;
    if ((pull_.flags & wire::Pull::kByPriority) != 0) priority = entry.priority;
    const std::uint64_t delayed = block->counters().delayed;
    block->OnPull({.from = from,
                   .term = entry.term,
                   .progress = entry.progress,
                   .cached_version = entry.cached_version,
                   .epoch_min = pull_.epoch_min,
                   .observer = (pull_.flags & wire::Pull::kObserver) != 0,
                   .significance = entry.significance,
                   .ask = entry.ask,
                   .priority = priority},
                  now);
    if (block->counters().delayed == delayed) continue;
    events_.delayed(block->table(), from, entry.progress);
  }
  return Status::Ok();
}

Status WorkerFrames::TakeRead(MemberKey from, std::span<const std::byte> body) {
  wire::Read read;
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, read));
  LW_RETURN_IF_ERROR(CheckSender({read.worker, read.incarnation}, from, wire::Kind::kRead));
  ArraysFrames frames(from, read.request, payload_bytes_max_,
                      [&](std::span<const std::byte> head, std::span<const Pinned> payload) {
                        events_.arrays(from, head, payload);
                      });
  for (const wire::ReadEntry& entry : read.entries) {
    const Block* const block = blocks_.Find(entry.block);
    if (block == nullptr || block->term() != entry.term) {
      SayMoved(from, entry);
      continue;
    }
    // The arrays are pinned and of one version: the block may step while they are under way.
    const BlockArrays now = block->Arrays();
    const bool state = read.what == wire::ReadWhat::kState;
    std::vector<ConstBufferRef> arrays;
    if (state) arrays = now.slots;
    if (!state && now.version != entry.cached_version && now.values != nullptr) arrays.push_back(now.values);
    wire::ArraysEntry answer{.block = entry.block,
                             .term = entry.term,
                             .version = now.version,
                             .steps = now.steps,
                             .payload_bytes = 0,
                             .array = 0,
                             .arrays = static_cast<std::uint8_t>(arrays.size())};
    if (arrays.empty()) frames.Add(answer, nullptr);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      answer.array = static_cast<std::uint8_t>(state ? i + 1 : 0);
      frames.Add(answer, arrays[i]);
    }
  }
  frames.Flush();
  return Status::Ok();
}

Block* WorkerFrames::FindFor(BlockId id, const Gradient& landed) const {
  Block* block = blocks_.Find(id);
  return block != nullptr && !landed.values().empty() && landed.values().size() == block->elements()
             ? block
             : nullptr;
}

Block* WorkerFrames::NoteStarved(BlockId id) {
  Block* const block = blocks_.Find(id);
  ++no_memory_;
  if (block != nullptr) {
    strained_.Warn(
        fmt::format("table \"{}\" block {}: no memory for a push of {} bytes, which is refused; give the "
                    "server more memory, or start more servers",
                    blocks_.TableName(*block), id.value(), block->elements() * sizeof(float)));
  }
  return block;
}

}  // namespace leeway
