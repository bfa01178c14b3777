#include "sim/event_heap.h"

#include <algorithm>

namespace leeway::sim {
namespace {

constexpr std::size_t kChildren = 4;

}  // namespace

void EventHeap::Push(Entry entry) {
  std::size_t hole = entries_.size();
  entries_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kChildren;
    if (!(entry < entries_[parent])) break;
    entries_[hole] = entries_[parent];
    hole = parent;
  }
  entries_[hole] = entry;
}

void EventHeap::Pop() {
  const Entry last = entries_.back();
  entries_.pop_back();
  if (!entries_.empty()) SiftDown(0, last);
}

void EventHeap::SiftDown(std::size_t hole, Entry entry) {
  const std::size_t size = entries_.size();
  for (std::size_t first = hole * kChildren + 1; first < size; first = hole * kChildren + 1) {
    const std::size_t end = std::min(first + kChildren, size);
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (entries_[child] < entries_[earliest]) earliest = child;
    }
    if (!(entries_[earliest] < entry)) break;
    entries_[hole] = entries_[earliest];
    hole = earliest;
  }
  entries_[hole] = entry;
}

void EventHeap::EraseIf(const std::function<bool(const Entry&)>& is_out) {
  std::erase_if(entries_, is_out);
  for (std::size_t i = entries_.size() / kChildren + 1; i-- > 0;) {
    if (i < entries_.size()) SiftDown(i, entries_[i]);
  }
}

}  // namespace leeway::sim
