// EventQueue: virtual time. Events run in the order of (time, sequence of scheduling), so a run depends on
// nothing but what was scheduled. One per simulated world; everything in a world happens on the thread that
// calls RunOne.
//
// A heap with four children to a node, which lie in one or two cache lines: a world of a thousand workers has
// tens of thousands of timers pending, and every event goes through here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway::sim {

using EventId = StrongInt<struct EventTag, std::uint64_t>;  // 0 is none

class EventQueue {
 public:
  // Virtual time since the world began.
  [[nodiscard]] Duration now() const { return now_; }
  // Runs `run` at `when`; a time in the past means now, after everything already scheduled for now.
  EventId At(Duration when, std::function<void()> run);
  EventId After(Duration delay, std::function<void()> run) { return At(now_ + delay, std::move(run)); }
  // Forgets an event; one that ran or was cancelled already is ignored.
  void Cancel(EventId id);
  // Moves time to the next event and runs it. False: there is none.
  bool RunOne();
  // Time of the next event; Duration::max() with none.
  [[nodiscard]] Duration next();
  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  static constexpr unsigned kSlotBits = 24;
  struct Entry {
    Duration when;
    std::uint64_t sequence_slot;  // the sequence of scheduling, and in its lowest bits the slot
    [[nodiscard]] std::uint32_t slot() const { return sequence_slot & ((1U << kSlotBits) - 1); }
    bool operator<(const Entry& other) const {
      return when != other.when ? when < other.when : sequence_slot < other.sequence_slot;
    }
  };
  struct Slot {
    std::function<void()> run;
    std::uint32_t generation = 0;  // an id of an earlier use of the slot does not fit
    bool live = false;
  };
  void Push(Entry entry);
  // REQUIRES: heap_ is not empty.
  void Pop();
  // Puts the entry where it belongs at or below `hole`.
  void SiftDown(std::size_t hole, Entry entry);
  void DropCancelled();
  // Throws out what was cancelled, wherever it is.
  void Sweep();

  Duration now_{0};
  std::uint64_t next_sequence_ = 0;
  std::uint64_t events_run_ = 0;
  std::size_t pending_ = 0;
  std::size_t cancelled_ = 0;  // of those in heap_
  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace leeway::sim
