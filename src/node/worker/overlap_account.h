// OverlapAccount: how much of a worker's communication its computation hides.
//
// Four times of each job-clock table and iteration:
//   ready    the user handed the gradient over; without a gradient: the iteration ended
//   left     the node gave the last frame with a part of the gradient to the transport
//   arrived  the answer of the last block for the next iteration had landed
//   needed   the user's Sync of the table began, if it had to wait
//
// A table is in communication from `ready` to `arrived`, and as long as a Sync of it waits. The worker is in
// communication while any table is. Waiting counts once: a Sync that waits beside another is charged with
// the time by which it outlasts the other. So the waits of all tables add up to the worker's.
//
// A pure state machine: Training tells it each event with its time. No event allocates. Thread rule: the
// node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

// Sums over the iterations since the first gradient.
struct OverlapTimes {
  Duration communication{0};
  // The parts of the user's waits. `queue`: the gradient had not left yet. `held`: the synchronization model
  // held the pull that was answered last; or the worker waits by its own rule (`bounded`), or at a barrier.
  // `wire`: the rest, with the transport's queue and the server's work.
  Duration queue{0}, held{0}, wire{0};
  Duration delay{0};  // from `ready` to `left`, of all pushes
  std::uint64_t pushes = 0;
  std::uint64_t slow_pushes = 0;  // ... that left more than kSlowPush after they were ready

  OverlapTimes& operator+=(const OverlapTimes& other);
  [[nodiscard]] Duration waited() const { return queue + held + wire; }
  // 1: no communication was waited for; 0: all of it was. Nothing without communication.
  [[nodiscard]] std::optional<double> overlap() const;
};

class OverlapAccount {
 public:
  static constexpr Duration kSlowPush = std::chrono::milliseconds(1);

  // A gradient of `iteration` is handed over, or the iteration ends without one. `at` may be before `now`:
  // the call waited for the node's thread; a later `at` counts as `now`.
  void Ready(TableId table, Iteration iteration, TimePoint at, TimePoint now);
  // A frame with a part of the gradient of `iteration` was given to the transport.
  void Left(TableId table, Iteration iteration, TimePoint now);
  // The values after `progress` are here. The synchronization model held the last answer for so long.
  void Arrived(TableId table, Iteration progress, Duration held, TimePoint now);
  // Whether Arrived would be news.
  [[nodiscard]] bool IsOpen(TableId table) const {
    return table.index() < tables_.size() && tables_[table.index()].open;
  }
  // The iteration of the newest Ready. REQUIRES: IsOpen.
  [[nodiscard]] Iteration OpenIteration(TableId table) const { return tables_[table.index()].iteration; }
  // A Sync of the table has to wait since `at`; its wait is over.
  void Needed(TableId table, TimePoint at, TimePoint now);
  void Released(TableId table, TimePoint now);
  // The barrier of a step without overlap was passed: the tables' pulls leave now.
  void NoteBarrier(TimePoint now) { barrier_passed_ = now; }
  // The worker leaves: nothing counts any more.
  void Stop(TimePoint now);

  // Of the worker, as of `now`.
  [[nodiscard]] OverlapTimes Total(TimePoint now) const;
  // Of a table, up to its last event.
  [[nodiscard]] OverlapTimes Of(TableId table) const;

 private:
  struct alignas(64) Record {
    Iteration iteration{-1};  // of `ready`
    TimePoint ready, left, arrived, needed;
    bool open = false;     // ready, and not arrived
    bool sent = false;     // `left` is of this iteration
    bool waiting = false;  // needed, and not released
    Duration held{0};      // as Arrived said it
    OverlapTimes sums;
  };

  [[nodiscard]] Record& At(TableId table);
  void BeginBusy(TimePoint at);
  void EndBusy(TimePoint now);
  void Close(Record& record, TimePoint now);
  // Divides the wait from `from` to `now` by its causes.
  void Charge(const Record& record, TimePoint from, TimePoint now, OverlapTimes& sums) const;

  std::vector<Record> tables_;  // by id
  OverlapTimes total_;          // its communication: up to busy_since_
  std::uint32_t busy_ = 0;      // records that are open, and records that wait
  TimePoint busy_since_, busy_ended_, charged_until_, barrier_passed_;
  bool began_ = false, stopped_ = false;
};

}  // namespace leeway
