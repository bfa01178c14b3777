#include "sim/event_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace leeway::sim {
namespace {

constexpr std::size_t kChildren = 4;
// Cancelled events are left in their places until they are this many, and most.
constexpr std::size_t kSweepMin = 1024;

}  // namespace

EventId EventQueue::At(Duration when, std::function<void()> run) {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    LW_CHECK(slot < (1U << kSlotBits), "{} events are pending", slot);
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
  Push({std::max(when, now_), (next_sequence_++ << kSlotBits) | slot});
  return EventId((static_cast<std::uint64_t>(entry.generation) << 32) | slot);
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

void EventQueue::Push(Entry entry) {
  std::size_t hole = heap_.size();
  heap_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kChildren;
    if (!(entry < heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
}

void EventQueue::Pop() {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown(0, last);
}

void EventQueue::SiftDown(std::size_t hole, Entry entry) {
  const std::size_t size = heap_.size();
  for (std::size_t first = hole * kChildren + 1; first < size; first = hole * kChildren + 1) {
    const std::size_t end = std::min(first + kChildren, size);
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (heap_[child] < heap_[earliest]) earliest = child;
    }
    if (!(heap_[earliest] < entry)) break;
    heap_[hole] = heap_[earliest];
    hole = earliest;
  }
  heap_[hole] = entry;
}

void EventQueue::DropCancelled() {
  while (!heap_.empty() && !slots_[heap_.front().slot()].live) {
    free_.push_back(heap_.front().slot());
    Pop();
    --cancelled_;
  }
}

void EventQueue::Sweep() {
  std::erase_if(heap_, [this](const Entry& entry) {
    if (slots_[entry.slot()].live) return false;
    free_.push_back(entry.slot());
    return true;
  });
  cancelled_ = 0;
  for (std::size_t i = heap_.size() / kChildren + 1; i-- > 0;) {
    if (i < heap_.size()) SiftDown(i, heap_[i]);
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
  Pop();
  now_ = entry.when;
  // Out of its slot first: what runs may schedule, cancel and so move the slots.
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
