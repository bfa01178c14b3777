#include "node/worker/shard_port.h"

#include <algorithm>
#include <utility>

namespace leeway {
namespace {

// So many blocks, or such a part of the bytes of a frame, are sent at a time.
constexpr std::size_t kBlocksAtATime = 32;
constexpr std::uint64_t kTimesPerFrame = 4;

std::span<WorkerBlock* const> FirstFew(std::span<WorkerBlock* const> blocks, std::uint64_t bytes_max) {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  while (count < blocks.size() && count < kBlocksAtATime && bytes < bytes_max)
    bytes += blocks[count++]->bytes();
  return blocks.first(count);
}

// Gradients whose frames have the same head may share one.
bool HaveOneHead(const LentPush& a, const LentPush& b) {
  return a.iteration == b.iteration && a.steps == b.steps && a.gradient.samples == b.gradient.samples &&
         a.gradient.hyper == b.gradient.hyper;
}

}  // namespace

ShardPort::ShardPort(ShardId shard, std::unique_ptr<Link> link, const Stance& stance,
                     std::uint64_t push_bytes_in_flight_max, std::uint64_t frame_payload_bytes,
                     WorkerCounters& counters)
    : shard_(shard),
      link_(std::move(link)),
      stance_(stance),
      push_bytes_in_flight_max_(push_bytes_in_flight_max),
      frame_payload_bytes_(frame_payload_bytes),
      counters_(counters) {}

void ShardPort::RemoveBlock(WorkerBlock& block) {
  ChangeQueue(block, [](PushQueue& queue) { queue.OnReconnect(); });
  std::erase(blocks_, &block);
  std::erase(touched_, &block);
  block.touched = false;
}

void ShardPort::Touch(WorkerBlock& block) {
  if (std::exchange(block.touched, true)) return;
  touched_.push_back(&block);
}

void ShardPort::OnUp() {
  for (WorkerBlock* block : blocks_) {
    ChangeQueue(*block, [](PushQueue& queue) { queue.OnReconnect(); });
    block->pull.AskAgain();
    block->init_sent = block->resume_sent = false;
  }
  Flush();
}

void ShardPort::Flush() {
  if (touched_.empty() || !link_->up()) return;  // OnUp touches every block
  std::vector<WorkerBlock*>& blocks = flushing_;
  blocks.clear();
  std::swap(blocks, touched_);
  for (WorkerBlock* block : blocks) block->touched = false;
  std::erase_if(blocks, [](const WorkerBlock* block) { return block->moved; });
  SendResumes(blocks);
  std::erase_if(blocks, [](const WorkerBlock* block) { return block->resuming; });
  SendInits(blocks);
  WithholdLate(blocks);
  // A few blocks at a time, their pushes and their pulls: the server answers the first while the others are
  // on their way.
  for (std::span<WorkerBlock* const> left(blocks); !left.empty();) {
    const std::span<WorkerBlock* const> some = FirstFew(left, frame_payload_bytes_ / kTimesPerFrame);
    left = left.subspan(some.size());
    while (SendPushRound(some)) {
    }
    SendPulls(some);
  }
  // What the credit held back goes out with the next verdicts, in the same order.
  for (WorkerBlock* block : blocks) {
    if (block->pushes.Next() != nullptr) Touch(*block);
  }
}

void ShardPort::SendResumes(const std::vector<WorkerBlock*>& blocks) {
  for (WorkerBlock* block : blocks) {
    if (!block->resuming || block->resume_sent) continue;
    const Iteration next = block->NextIteration();
    if (!absent_.entries.empty() &&
        (next != absent_.iteration || absent_.entries.size() == wire::kEntriesMax)) {
      SendAbsentFrame();
    }
    block->resume_sent = true;
    absent_.iteration = next;
    absent_.entries.push_back({block->id, block->term, Seq(0)});
  }
  if (!absent_.entries.empty()) SendAbsentFrame();
}

void ShardPort::SendInits(const std::vector<WorkerBlock*>& blocks) {
  for (WorkerBlock* block : blocks) {
    if (block->init == nullptr || block->init_sent) continue;
    if (!init_.entries.empty() && (payload_bytes_ + block->bytes() > frame_payload_bytes_ ||
                                   init_.entries.size() == wire::kEntriesMax)) {
      SendInitFrame();
    }
    block->init_sent = true;
    init_.entries.push_back({block->id, block->term, static_cast<std::uint32_t>(block->bytes())});
    payload_.push_back(
        {std::as_bytes(block->init->gradient.values.subspan(block->offset, block->elements)), block->init});
    payload_bytes_ += block->bytes();
  }
  if (!init_.entries.empty()) SendInitFrame();
}

void ShardPort::WithholdLate(const std::vector<WorkerBlock*>& blocks) {
  for (WorkerBlock* block : blocks) {
    if (block->model == nullptr || !block->model->drops_late) continue;
    counters_.skipped_late += block->pushes.Withhold(block->told);
  }
}

bool ShardPort::HasCredit(std::uint64_t bytes) const {
  // One push may always fly, however large, or it never would.
  return bytes == 0 || bytes_in_flight_ == 0 || bytes_in_flight_ + bytes <= push_bytes_in_flight_max_;
}

bool ShardPort::SendPushRound(std::span<WorkerBlock* const> blocks) {
  bool any = false;
  const LentPush* in_frame = nullptr;
  for (WorkerBlock* block : blocks) {
    const QueuedPush* next = block->pushes.Next();
    if (next == nullptr || !HasCredit(next->bytes)) continue;
    any = true;
    const LentPush* const lent = next->withheld ? nullptr : next->lent.get();
    if (in_frame != nullptr && (lent == nullptr || (lent != in_frame && !HaveOneHead(*lent, *in_frame)) ||
                                payload_bytes_ + block->bytes() > frame_payload_bytes_ ||
                                push_.entries.size() == wire::kEntriesMax)) {
      SendPushFrame(*in_frame);
      in_frame = nullptr;
    }
    if (!absent_.entries.empty() && (lent != nullptr || next->iteration != absent_.iteration ||
                                     absent_.entries.size() == wire::kEntriesMax)) {
      SendAbsentFrame();
    }
    if (lent != nullptr) {
      in_frame = lent;
      push_.entries.push_back({block->id, block->term, next->seq, next->base_version,
                               static_cast<std::uint32_t>(block->bytes()), DType::kFloat32, 0});
      payload_.push_back(
          {std::as_bytes(lent->gradient.values.subspan(block->offset, block->elements)), next->lent});
      payload_bytes_ += block->bytes();
    } else {
      absent_.iteration = next->iteration;
      absent_.entries.push_back({block->id, block->term, next->seq});
    }
    CreditGuard guard(*this, block->pushes);
    ++(block->pushes.MarkSent() ? counters_.resent : counters_.pushes);
  }
  if (in_frame != nullptr) SendPushFrame(*in_frame);
  if (!absent_.entries.empty()) SendAbsentFrame();
  return any;
}

void ShardPort::SendPulls(std::span<WorkerBlock* const> blocks) {
  for (WorkerBlock* block : blocks) {
    if (!block->pull.to_send() || !block->pushes.all_sent()) continue;
    block->pull.MarkSent();
    // A pull into the user's own memory says nothing of what is there.
    const Version cached = block->table->into.empty() ? block->table->landing.Held(block->index) : Version(0);
    pull_.entries.push_back(
        {block->id, block->term, block->pull.progress(), cached, block->table->significance});
    ++counters_.pulls;
    if (pull_.entries.size() == wire::kEntriesMax) SendPullFrame();
  }
  if (!pull_.entries.empty()) SendPullFrame();
}

void ShardPort::SendInitFrame() {
  init_.worker = stance_.worker;
  init_.incarnation = stance_.incarnation;
  wire::Encode(init_, body_);
  init_.entries.clear();
  Send(wire::Kind::kInit);
}

void ShardPort::SendPushFrame(const LentPush& lent) {
  push_.worker = stance_.worker;
  push_.incarnation = stance_.incarnation;
  push_.iteration = lent.iteration;
  push_.samples = lent.gradient.samples;
  push_.steps = lent.steps;
  push_.hyper = lent.gradient.hyper;
  wire::Encode(push_, body_);
  push_.entries.clear();
  Send(wire::Kind::kPush);
}

void ShardPort::SendAbsentFrame() {
  absent_.worker = stance_.worker;
  absent_.incarnation = stance_.incarnation;
  wire::Encode(absent_, body_);
  absent_.entries.clear();
  Send(wire::Kind::kAbsent);
}

void ShardPort::SendPullFrame() {
  pull_.worker = stance_.worker;
  pull_.incarnation = stance_.incarnation;
  pull_.observer = stance_.observer;
  pull_.epoch_min = stance_.epoch_min;
  wire::Encode(pull_, body_);
  pull_.entries.clear();
  Send(wire::Kind::kPull);
}

void ShardPort::Send(wire::Kind kind) {
  counters_.bytes_sent += body_.size() + payload_bytes_;
  link_->Send(kind, body_, payload_);
  body_.clear();
  payload_.clear();
  payload_bytes_ = 0;
}

}  // namespace leeway
