#include "sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace leeway::sim {
namespace {

// The number of events that become near at a time. The fewer, the smaller the heap that most events pass. But
// if fewer than kRunsPerMove events run for each moved one, too many pass both heaps; and if more than
// kRunsManyPerMove run, fewer will do.
constexpr std::size_t kMovesMin = 64, kMovesMax = 1024;
constexpr std::uint64_t kRunsPerMove = 4, kRunsManyPerMove = 16;
// Cancelled events stay in their places until there are this many, and they are the majority.
constexpr std::size_t kSweepMin = 1024;

}  // namespace

std::uint32_t EventQueue::TakeSlot() {
  if (free_.empty()) {
    const auto slot = static_cast<std::uint32_t>(slots_.size());
    LW_CHECK(slot < (1U << EventHeap::kSlotBits), "{} events are pending", slot);
    slots_.emplace_back();
    return slot;
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

EventId EventQueue::At(Duration when, std::function<void()> run) {
  const std::uint32_t slot = TakeSlot();
  Slot& taken = slots_[slot];
  taken.run = std::move(run);
  taken.live = true;
  ++taken.generation;
  ++pending_;
  when = std::max(when, now_);
  LW_CHECK(next_sequence_ >> EventHeap::kSequenceBits == 0, "{} events were scheduled", next_sequence_);
  (when < near_end_ ? near_ : far_).Push(Entry(when, next_sequence_++, slot));
  return EventId((static_cast<std::uint64_t>(taken.generation) << 32) | slot);
}

void EventQueue::Cancel(EventId id) {
  const auto slot = static_cast<std::uint32_t>(id.value());
  const auto generation = static_cast<std::uint32_t>(id.value() >> 32);
  if (slot >= slots_.size() || slots_[slot].generation != generation || !slots_[slot].live) return;
  // The slot is reused only after its entry has left the heap.
  slots_[slot].live = false;
  slots_[slot].run = nullptr;
  --pending_;
  ++cancelled_;
  if (cancelled_ >= kSweepMin && cancelled_ > pending_) Sweep();
}

void EventQueue::Refill() {
  if (far_.empty()) return;
  const std::uint64_t runs = events_run_ - std::exchange(refilled_at_, events_run_);
  if (runs < kRunsPerMove * moves_) {
    moves_ = std::min(moves_ * 2, kMovesMax);
  } else if (runs > kRunsManyPerMove * moves_) {
    moves_ = std::max(moves_ / 2, kMovesMin);
  }
  for (std::size_t i = 0; i < moves_ && !far_.empty(); ++i) {
    near_end_ = far_.front().when;
    near_.Push(far_.front());
    far_.Pop();
  }
}

bool EventQueue::FindNext() {
  for (;;) {
    if (near_.empty()) Refill();
    if (near_.empty()) return false;
    const std::uint32_t slot = near_.front().slot();
    if (slots_[slot].live) return true;
    free_.push_back(slot);
    near_.Pop();
    --cancelled_;
  }
}

void EventQueue::Sweep() {
  const auto is_out = [this](const Entry& entry) {
    if (slots_[entry.slot()].live) return false;
    free_.push_back(entry.slot());
    return true;
  };
  near_.EraseIf(is_out);
  far_.EraseIf(is_out);
  cancelled_ = 0;
}

Duration EventQueue::next() { return FindNext() ? near_.front().when : Duration::max(); }

bool EventQueue::RunOne() {
  if (!FindNext()) return false;
  const Entry entry = near_.front();
  near_.Pop();
  now_ = entry.when;
  // Moved out of its slot first: the event may schedule, cancel and so move the slots.
  Slot& slot = slots_[entry.slot()];
  const std::function<void()> run = std::move(slot.run);
  slot.run = nullptr;
  slot.live = false;
  free_.push_back(entry.slot());
  --pending_;
  ++events_run_;
  run();
  return true;
}

}  // namespace leeway::sim
