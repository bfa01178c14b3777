// EventHeap: a heap of events by (time, sequence of scheduling), the first in front.
//
// A heap with four children to a node, which lie in one or two cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "leeway/env.h"

namespace leeway::sim {

class EventHeap {
 public:
  static constexpr unsigned kSlotBits = 24, kSequenceBits = 64 - kSlotBits;
  struct Entry {
    Entry() = default;
    Entry(Duration at, std::uint64_t sequence, std::uint32_t slot)
        : when(at), sequence_slot((sequence << kSlotBits) | slot) {}
    Duration when{};
    std::uint64_t sequence_slot = 0;  // the sequence of scheduling; the slot
    [[nodiscard]] std::uint32_t slot() const { return sequence_slot & ((1U << kSlotBits) - 1); }
    bool operator<(const Entry& other) const {
      return when != other.when ? when < other.when : sequence_slot < other.sequence_slot;
    }
  };

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // REQUIRES of both: it is not empty.
  [[nodiscard]] const Entry& front() const { return entries_.front(); }
  void Pop();
  void Push(Entry entry);
  void EraseIf(const std::function<bool(const Entry&)>& is_out);

 private:
  // Puts the entry where it belongs at or below `hole`.
  void SiftDown(std::size_t hole, Entry entry);

  std::vector<Entry> entries_;
};

}  // namespace leeway::sim
