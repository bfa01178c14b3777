// EventRunway: the next few events, in their order. Short, so that putting one in its place moves little.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "sim/event_heap.h"

namespace leeway::sim {

class EventRunway {
 public:
  using Entry = EventHeap::Entry;
  static constexpr std::size_t kSize = 12;

  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] bool full() const { return size() == kSize; }
  // REQUIRES of these: i < size(), it is not empty.
  [[nodiscard]] const Entry& operator[](std::size_t i) const { return places_[begin_ + i]; }
  [[nodiscard]] const Entry& front() const { return places_[begin_]; }
  [[nodiscard]] const Entry& back() const { return places_[end_ - 1]; }
  void PopFront() { ++begin_; }
  void PopBack() { --end_; }
  // REQUIRES of both: it is not full. Of PushBack: nothing in it comes after `entry`.
  void PushBack(const Entry& entry) {
    MakeRoom();
    places_[end_++] = entry;
  }
  // Returns how many come before it.
  std::size_t Insert(const Entry& entry) {
    MakeRoom();
    std::size_t at = end_++;
    for (; at > begin_ && entry < places_[at - 1]; --at) places_[at] = places_[at - 1];
    places_[at] = entry;
    return at - begin_;
  }
  void EraseIf(const std::function<bool(const Entry&)>& is_out) {
    Entry* const end = std::remove_if(places_.data() + begin_, places_.data() + end_, is_out);
    end_ = static_cast<std::size_t>(end - places_.data());
  }

 private:
  // Entries move to the left of the array when they have come to its right.
  void MakeRoom() {
    if (end_ < places_.size()) return;
    std::copy(places_.begin() + static_cast<std::ptrdiff_t>(begin_), places_.end(), places_.begin());
    end_ -= begin_;
    begin_ = 0;
  }

  std::array<Entry, 4 * kSize> places_{};
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace leeway::sim
