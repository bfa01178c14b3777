// WaitingPulls: the pulls of a block that are not answered yet, at most one per worker; a newer one replaces
// it.
//
// A pull is unready while the block has no values or does not know the epoch that the pull asks for. It is
// delayed while the synchronization model says later. Pulls are taken out in an order that depends on nothing
// but the pulls. The cost of a call does not grow with the number of workers, but for the listing ones.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "block/block_events.h"
#include "block/rank_set.h"
#include "block/rank_table.h"
#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

struct WaitingPull {
  PullEvent pull{};
  TimePoint since{};  // unready or delayed, as it is now
};

class WaitingPulls {
 public:
  void HoldUnready(const PullEvent& pull, TimePoint since);
  // Returns true if this worker's pull for this progress waits for the first time (a resent one is the same
  // DPR).
  bool Delay(const PullEvent& pull, TimePoint since);

  // Removes the worker's pull, if it waits.
  void Drop(WorkerId worker);
  // Removes the pull of exactly this life and returns it.
  std::optional<WaitingPull> Take(MemberKey life);
  // Removes and returns the delayed pull with the lowest progress, and of those the lowest rank, if that
  // progress is below `v_train`.
  std::optional<WaitingPull> TakeDelayedBelow(Iteration v_train);
  // Removes and returns all delayed pulls, in that order.
  std::vector<WaitingPull> TakeDelayed();
  // Removes and returns all unready pulls, by rank.
  std::vector<WaitingPull> TakeUnready();

  [[nodiscard]] std::size_t size() const { return unready_.size() + delayed_.size(); }
  [[nodiscard]] bool Waits(WorkerId worker) const {
    return unready_.Contains(worker) || delayed_.Contains(worker);
  }
  [[nodiscard]] bool IsDelayed(WorkerId worker) const { return delayed_.Contains(worker); }
  [[nodiscard]] bool any_unready() const { return !unready_.empty(); }
  // All of them, by rank; for people.
  [[nodiscard]] std::vector<PullEvent> List() const;

 private:
  struct Entry {
    WaitingPull waiting{};                 // of one that waits
    std::optional<MemberKey> last_life{};  // whose pull was delayed last, and for which progress
    Iteration last_delayed{};
  };
  // The delayed pulls of one progress.
  struct Row {
    Iteration progress{};
    RankSet workers{};
  };

  void AddToRow(Iteration progress, WorkerId worker);

  // The workers that wait. Every push and pull asks, nearly always for a worker that does not. No worker is
  // in both.
  RankSet unready_, delayed_;
  RankTable<Entry> entries_;
  std::vector<Row> rows_;       // of delayed_, by progress, none empty
  std::vector<RankSet> spare_;  // emptied, with room for their ranks
};

}  // namespace leeway
