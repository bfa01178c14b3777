// WaitingPulls: the pulls of a block that are not answered yet, at most one per worker; a newer one replaces
// it.
//
// A pull is blocked while the block has no values or does not know the epoch it asks for, and delayed while
// the synchronization model says later. Taken out in an order that depends on nothing but the pulls
// themselves.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block/block_events.h"
#include "leeway/ids.h"

namespace leeway {

class WaitingPulls {
 public:
  void Block(const PullEvent& pull);
  // Returns true if this worker's pull for this progress waits for the first time (a resent one is the same
  // DPR).
  bool Delay(const PullEvent& pull);

  // Removes the worker's pull, if it waits.
  void Drop(WorkerId worker);
  // Removes the pull of exactly this life and returns it.
  std::optional<PullEvent> Take(MemberKey life);
  // Removes and returns the delayed pull with the lowest progress, if that is below `v_train`.
  std::optional<PullEvent> TakeDelayedBelow(Iteration v_train);
  // Removes and returns all blocked pulls, by rank.
  std::vector<PullEvent> TakeBlocked();

  [[nodiscard]] std::size_t size() const { return pulls_.size(); }
  [[nodiscard]] bool any_blocked() const { return !blocked_.empty(); }
  // All of them, by rank; for people.
  [[nodiscard]] std::vector<PullEvent> List() const;

 private:
  std::unordered_map<WorkerId, PullEvent> pulls_;
  std::set<WorkerId> blocked_;
  std::set<std::pair<Iteration, WorkerId>> delayed_;
  std::unordered_map<WorkerId, Iteration> last_delayed_;
};

}  // namespace leeway
