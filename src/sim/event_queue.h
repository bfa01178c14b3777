// EventQueue: virtual time. Events run in the order of (time, sequence of scheduling), so a run depends only
// on its schedule. One per simulated world. Thread rule: everything in a world happens on the thread that
// calls RunOne.
//
// A world of a thousand workers has tens of thousands of pending timers, nearly all of them far away, and
// every message is a few near events. So there are two heaps: a small one holds the next few pending events,
// and most of these were never in the large one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "sim/event_heap.h"

namespace leeway::sim {

using EventId = StrongInt<struct EventTag, std::uint64_t>;  // 0: no event

class EventQueue {
 public:
  // Virtual time since the world began.
  [[nodiscard]] Duration now() const { return now_; }
  // Runs `run` at `when`; a time in the past means now, after everything already scheduled for now.
  EventId At(Duration when, std::function<void()> run);
  EventId After(Duration delay, std::function<void()> run) { return At(now_ + delay, std::move(run)); }
  // Forgets an event. Ignores an event that ran or was cancelled.
  void Cancel(EventId id);
  // Moves time to the next event and runs it. False if no event is pending.
  bool RunOne();
  // Time of the next event; Duration::max() if no event is pending.
  [[nodiscard]] Duration next();
  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }
  [[nodiscard]] std::size_t pending() const { return pending_; }

 private:
  using Entry = EventHeap::Entry;
  struct alignas(64) Slot {
    std::function<void()> run;
    std::uint32_t generation = 0;  // tells an id of an earlier use of the slot apart
    bool live = false;
  };
  static_assert(sizeof(Slot) == 64);
  [[nodiscard]] std::uint32_t TakeSlot();
  // Makes the first event in near_ the next one to run. False: no event is pending.
  bool FindNext();
  // Takes the first few of far_ into near_. REQUIRES: near_ is empty.
  void Refill();
  // Removes cancelled events from both heaps.
  void Sweep();

  Duration now_{0};
  std::uint64_t next_sequence_ = 0;
  std::uint64_t events_run_ = 0;
  std::size_t pending_ = 0;
  std::size_t cancelled_ = 0;  // entries in near_ and far_ whose event was cancelled
  EventHeap near_, far_;       // all events in near_ come before all in far_
  Duration near_end_{0};       // from here on an event is far
  std::size_t moves_ = 1;      // of the last refill, and what had run by then
  std::uint64_t refilled_at_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace leeway::sim
