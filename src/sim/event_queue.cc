#include "sim/event_queue.h"

#include <algorithm>
#include <utility>

namespace leeway::sim {

bool EventQueue::Later(const Entry& a, const Entry& b) {
  if (a.when != b.when) return a.when > b.when;
  return a.sequence > b.sequence;
}

EventId EventQueue::At(Duration when, std::function<void()> run) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Slot& entry = slots_[slot];
  entry.run = std::move(run);
  entry.live = true;
  ++entry.generation;
  ++pending_;
  heap_.push_back({std::max(when, now_), next_sequence_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), Later);
  return EventId((static_cast<std::uint64_t>(entry.generation) << 32) | slot);
}

void EventQueue::Cancel(EventId id) {
  const auto slot = static_cast<std::uint32_t>(id.value());
  const auto generation = static_cast<std::uint32_t>(id.value() >> 32);
  if (slot >= slots_.size() || slots_[slot].generation != generation || !slots_[slot].live) return;
  // The heap entry stays until its time comes; the slot is reused only after that.
  slots_[slot].live = false;
  slots_[slot].run = nullptr;
  --pending_;
}

void EventQueue::Release(std::uint32_t slot) { free_.push_back(slot); }

void EventQueue::DropCancelled() {
  while (!heap_.empty() && !slots_[heap_.front().slot].live) {
    Release(heap_.front().slot);
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    heap_.pop_back();
  }
}

Duration EventQueue::next() {
  DropCancelled();
  return heap_.empty() ? Duration::max() : heap_.front().when;
}

bool EventQueue::RunOne() {
  DropCancelled();
  if (heap_.empty()) return false;
  const Entry entry = heap_.front();
  std::pop_heap(heap_.begin(), heap_.end(), Later);
  heap_.pop_back();
  now_ = entry.when;
  // Out of its slot first: what runs may schedule, cancel and so move the slots.
  const std::function<void()> run = std::move(slots_[entry.slot].run);
  slots_[entry.slot].run = nullptr;
  slots_[entry.slot].live = false;
  Release(entry.slot);
  --pending_;
  ++events_run_;
  run();
  return true;
}

}  // namespace leeway::sim
