#include "node/worker/push_queue.h"

#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/mutation.h"

namespace leeway {

void PushQueue::Append(Iteration iteration, std::shared_ptr<LentPush> lent, Version base_version,
                       std::uint64_t bytes) {
  queue_.push_back({next_seq_, iteration, std::move(lent), base_version, bytes});
  ++next_seq_;
}

void PushQueue::AppendAbsent(Iteration iteration, bool idle) {
  queue_.push_back(
      {.seq = next_seq_, .iteration = iteration, .lent = nullptr, .base_version = {}, .idle = idle});
  ++next_seq_;
}

const QueuedPush* PushQueue::Next() const {
  if (held_ || sent_ == queue_.size() || sent_ == kInFlightMax) return nullptr;
  return &queue_[sent_];
}

std::uint64_t PushQueue::Withhold(Iteration v_train) {
  std::uint64_t withheld = 0;
  // The server may have taken a push that is in flight, or was: it must come again unchanged.
  for (std::size_t i = sent_; i < queue_.size(); ++i) {
    QueuedPush& push = queue_[i];
    if (push.iteration >= v_train || push.lent == nullptr || push.lent->assigns || push.sent_before ||
        push.withheld)
      continue;
    push.withheld = true;
    push.bytes = 0;
    ++withheld;
  }
  return withheld;
}

bool PushQueue::MarkSent() {
  LW_CHECK(Next() != nullptr, "nothing to send");
  QueuedPush& push = queue_[sent_++];
  bytes_in_flight_ += push.bytes;
  return std::exchange(push.sent_before, true);
}

Result<std::optional<QueuedPush>> PushQueue::Settle(Seq seq) {
  if (seq < (queue_.empty() ? next_seq_ : queue_.front().seq)) return std::optional<QueuedPush>();
  if (queue_.empty()) return Protocol("verdict for push {}: nothing is in flight", seq.value());
  if (seq != queue_.front().seq || !queue_.front().sent_before) {
    return Protocol("verdict for push {}: wanted one for {}, {} in flight", seq.value(),
                    queue_.front().seq.value(), sent_);
  }
  QueuedPush push = queue_.pop_front();
  if (sent_ > 0) {
    --sent_;
    bytes_in_flight_ -= push.bytes;
  }
  return std::optional<QueuedPush>(std::move(push));
}

void PushQueue::OnGap(Seq last) {
  // While held, what was pipelined behind the held push comes back as gaps: it is sent again anyway. A gap
  // below our oldest push cannot be filled by us and one above our newest asks for nothing.
  const Seq from = last + 1;
  if (held_ || queue_.empty() || from < queue_.front().seq || from >= next_seq_ || from == resent_from_)
    return;
  Unsend(from);
  resent_from_ = from;
}

void PushQueue::OnWindow(Seq seq) {
  if (queue_.empty() || seq < queue_.front().seq || seq >= next_seq_) return;
  Unsend(seq);
  held_ = true;
}

void PushQueue::OnOpen() {
  if (!held_) return;
  held_ = false;
  if (!all_sent()) resent_from_ = queue_[sent_].seq;
}

void PushQueue::OnMoved() {
  if (queue_.empty()) return;
  Unsend(queue_.front().seq);
  held_ = true;
}

void PushQueue::OnReconnect() {
  if (!queue_.empty()) Unsend(queue_.front().seq);
  held_ = false;
  resent_from_ = Seq(0);
}

std::uint64_t PushQueue::Resume(Seq last) {
  OnReconnect();
  // Versions count anew: the owner may have been taken back to a checkpoint, and has made others since.
  for (std::size_t i = 0; i < queue_.size(); ++i) queue_[i].base_version = Version(0);
  const Seq settled = (queue_.empty() ? next_seq_ : queue_.front().seq) - 1;
  if (last >= settled) return 0;  // pushes beyond have their verdicts there, and get them again
  if (LW_MUTATED(not_renumbered)) return settled - last;
  next_seq_ = last + 1;
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    queue_[i].seq = next_seq_;
    ++next_seq_;
  }
  return settled - last;
}

void PushQueue::Drain(const std::function<void(QueuedPush&)>& each) {
  while (!queue_.empty()) {
    QueuedPush push = queue_.pop_front();
    each(push);
  }
  sent_ = 0;
  bytes_in_flight_ = 0;
}

void PushQueue::Unsend(Seq seq) {
  while (sent_ > 0 && queue_[sent_ - 1].seq >= seq) bytes_in_flight_ -= queue_[--sent_].bytes;
}

}  // namespace leeway
