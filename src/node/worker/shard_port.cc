#include "node/worker/shard_port.h"

#include <algorithm>
#include <utility>

namespace leeway {
namespace {

// At most so many blocks are sent at a time, however small they are.
constexpr std::size_t kBlocksAtATime = 32;

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

void ShardPort::RemoveBlock(WorkerBlock& block) {
  ChangeQueue(block, [](PushQueue& queue) { queue.OnReconnect(); });
  std::erase(blocks_, &block);
  touched_.Remove(block);
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
  std::vector<WorkerBlock*>& blocks = share_.draft.blocks;
  touched_.TakeAll(blocks);
  std::erase_if(blocks, [](const WorkerBlock* block) { return block->moved; });
  SendResumes(blocks);
  std::erase_if(blocks, [](const WorkerBlock* block) { return block->resuming; });
  SendInits(blocks);
  WithholdLate(blocks);
  // A few blocks at a time, their pushes and their pulls: the server answers the first while the others are
  // on their way.
  for (std::span<WorkerBlock* const> left(blocks); !left.empty();) {
    const std::span<WorkerBlock* const> some = FirstFew(left, share_.flush_bytes);
    left = left.subspan(some.size());
    while (SendPushRound(some)) {
    }
    SendPulls(some);
  }
  // Pushes that the credit held back go out with the next verdicts, in the same order.
  for (WorkerBlock* block : blocks) {
    if (block->pushes.Next() != nullptr) Touch(*block);
  }
  blocks.clear();
}

void ShardPort::SendResumes(const std::vector<WorkerBlock*>& blocks) {
  wire::Resume& resume = share_.draft.resume;
  for (WorkerBlock* block : blocks) {
    if (!block->resuming || block->resume_sent) continue;
    block->resume_sent = true;
    Name(*block);
    resume.entries.push_back({block->id, block->term, block->NextIteration()});
    if (resume.entries.size() == wire::kEntriesMax) SendDraft(wire::Kind::kResume, resume);
  }
  if (!resume.entries.empty()) SendDraft(wire::Kind::kResume, resume);
}

void ShardPort::SendInits(const std::vector<WorkerBlock*>& blocks) {
  FrameDraft& draft = share_.draft;
  for (WorkerBlock* block : blocks) {
    if (block->init == nullptr || block->init_sent) continue;
    if (!draft.init.entries.empty() && (draft.payload_bytes + block->bytes() > share_.frame_payload_bytes ||
                                        draft.init.entries.size() == wire::kEntriesMax)) {
      SendInitFrame();
    }
    block->init_sent = true;
    Name(*block);
    draft.init.entries.push_back({block->id, block->term, static_cast<std::uint32_t>(block->bytes())});
    draft.payload.push_back(
        {std::as_bytes(block->init->gradient.values.subspan(block->offset, block->elements)), block->init});
    draft.payload_bytes += block->bytes();
  }
  if (!draft.init.entries.empty()) SendInitFrame();
}

void ShardPort::WithholdLate(const std::vector<WorkerBlock*>& blocks) {
  for (WorkerBlock* block : blocks) {
    if (block->model == nullptr || !block->model->drops_late) continue;
    share_.counters.skipped_late += block->pushes.Withhold(block->told);
  }
}

bool ShardPort::HasCredit(std::uint64_t bytes) const {
  // One push may always fly, however large, or it never would.
  return bytes == 0 || bytes_in_flight_ == 0 || bytes_in_flight_ + bytes <= share_.push_bytes_in_flight_max;
}

bool ShardPort::SendPushRound(std::span<WorkerBlock* const> blocks) {
  FrameDraft& draft = share_.draft;
  bool any = false;
  const LentPush* in_frame = nullptr;
  for (WorkerBlock* block : blocks) {
    const QueuedPush* next = block->pushes.Next();
    if (next == nullptr || !HasCredit(next->bytes)) continue;
    any = true;
    const LentPush* const lent = next->withheld ? nullptr : next->lent.get();
    if (in_frame != nullptr &&
        (lent == nullptr || lent->assigns || (lent != in_frame && !HaveOneHead(*lent, *in_frame)) ||
         draft.payload_bytes + block->bytes() > share_.frame_payload_bytes ||
         draft.push.entries.size() == wire::kEntriesMax)) {
      SendPushFrame(*in_frame);
      in_frame = nullptr;
    }
    if (!draft.absent.entries.empty() && (lent != nullptr || next->iteration != draft.absent.iteration ||
                                          draft.absent.entries.size() == wire::kEntriesMax)) {
      SendAbsentFrame();
    }
    Name(*block);
    if (lent != nullptr && lent->assigns) {
      SendAssign(*block, *next);
    } else if (lent != nullptr) {
      in_frame = lent;
      draft.push.entries.push_back({block->id, block->term, next->seq, next->base_version});
      draft.push.entries.back().SetWhole(static_cast<std::uint32_t>(block->bytes()));
      draft.payload.push_back(
          {std::as_bytes(lent->gradient.values.subspan(block->offset, block->elements)), next->lent});
      draft.payload_bytes += block->bytes();
    } else {
      draft.absent.iteration = next->iteration;
      const std::uint8_t flags = next->idle ? wire::AbsentEntry::kIdle : 0;
      draft.absent.entries.push_back({block->id, block->term, next->seq, flags});
    }
    CreditGuard guard(*this, block->pushes);
    const bool gradient = lent == nullptr || !lent->assigns;
    const bool again = block->pushes.MarkSent();
    if (gradient) ++(again ? share_.counters.resent : share_.counters.pushes);
    const bool first = lent != nullptr && gradient && !again;
    if (first && (draft.tables.empty() || draft.tables.back() != block->table))
      draft.tables.push_back(block->table);
  }
  if (in_frame != nullptr) SendPushFrame(*in_frame);
  if (!draft.absent.entries.empty()) SendAbsentFrame();
  return any;
}

void ShardPort::SendPulls(std::span<WorkerBlock* const> blocks) {
  FrameDraft& draft = share_.draft;
  for (WorkerBlock* block : blocks) {
    if (!block->pull.to_send() || !block->pushes.all_sent()) continue;
    block->pull.MarkSent();
    Name(*block);
    // A pull into the user's own memory names no version: the memory may hold anything.
    const Version cached = block->table->into.empty() ? block->table->landing.Held(block->index) : Version(0);
    draft.pull.entries.push_back({block->id, block->term, block->pull.progress(), cached,
                                  block->table->significance, block->pull.ask(),
                                  share_.priorities ? block->table->priority : std::uint8_t{0}});
    ++share_.counters.pulls;
    if (draft.pull.entries.size() == wire::kEntriesMax) SendPullFrame();
  }
  if (!draft.pull.entries.empty()) SendPullFrame();
}

void ShardPort::Name(const WorkerBlock& block) {
  if (!share_.priorities) return;
  share_.draft.named.push_back(block.id);
  share_.draft.priority = std::min(share_.draft.priority, block.table->priority);
}

template <typename Message>
void ShardPort::SendDraft(wire::Kind kind, Message& message) {
  message.worker = share_.self.worker;
  message.incarnation = share_.self.incarnation;
  wire::Encode(message, share_.draft.body);
  message.entries.clear();
  Send(kind);
}

void ShardPort::SendInitFrame() { SendDraft(wire::Kind::kInit, share_.draft.init); }

void ShardPort::SendPushFrame(const LentPush& lent) {
  wire::Push& push = share_.draft.push;
  push.iteration = lent.iteration;
  push.samples = lent.gradient.samples;
  push.steps = lent.steps;
  push.hyper = lent.gradient.hyper;
  if (const auto& tables = share_.draft.tables; !tables.empty())
    share_.communication.trace().AddFrame(share_.self, *tables.front(), lent.iteration, push.entries);
  SendDraft(wire::Kind::kPush, push);
  FrameDraft& draft = share_.draft;
  for (const WorkerTable* table : draft.tables) share_.communication.NoteLeft(*table, lent.iteration);
  draft.tables.clear();
}

void ShardPort::SendAbsentFrame() { SendDraft(wire::Kind::kAbsent, share_.draft.absent); }

void ShardPort::SendAssign(WorkerBlock& block, const QueuedPush& next) {
  FrameDraft& draft = share_.draft;
  const LentPush& lent = *next.lent;
  draft.assign.entries.push_back({block.id, block.term, next.seq, next.base_version, lent.assigns->steps,
                                  static_cast<std::uint32_t>(block.bytes()), lent.assigns->array});
  draft.payload.push_back(
      {std::as_bytes(lent.gradient.values.subspan(block.offset, block.elements)), next.lent});
  draft.payload_bytes += block.bytes();
  SendDraft(wire::Kind::kAssign, draft.assign);
}

void ShardPort::SendPullFrame() {
  wire::Pull& pull = share_.draft.pull;
  const std::uint8_t observer = share_.self.observer ? wire::Pull::kObserver : 0;
  pull.flags = share_.pull_flags | observer;
  pull.epoch_min = share_.self.epoch_min;
  SendDraft(wire::Kind::kPull, pull);
}

void ShardPort::Send(wire::Kind kind) {
  FrameDraft& draft = share_.draft;
  share_.counters.bytes_sent += draft.body.size() + draft.payload_bytes;
  FrameOrder order;
  if (share_.priorities) {
    // A pull costs nothing, and an answer that is late for it leaves the way back idle.
    const bool is_brief = draft.payload_bytes == 0;
    order = {is_brief ? FrameOrder::Kind::kVerdicts : FrameOrder::Kind::kByPriority, draft.priority,
             draft.named};
  }
  link_->Send(kind, draft.body, draft.payload, order);
  draft.named.clear();
  draft.priority = 255;
  draft.body.clear();
  draft.payload.clear();
  draft.payload_bytes = 0;
}

}  // namespace leeway
