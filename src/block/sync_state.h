// SyncState: the synchronization model of one block, and what the model remembers of the block.
//
// Asks the model whether a pull may be answered and whether the block may advance, and knows which delayed
// pulls an advance releases. Progress and idle marks are the block's, which passes them with each question.
// Thread rule: the block's.
#pragma once

#include <cstdint>
#include <optional>

#include "block/block_events.h"
#include "block/idle_iterations.h"
#include "block/progress.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/sync_model.h"
#include "sync/sync_policy.h"

namespace leeway {

class SyncState {
 public:
  // Borrows the policy until the next Follow, or for its life.
  SyncState(const SyncPolicy& policy, bool aggregates, std::uint64_t coin_seed) {
    Follow(policy, aggregates, coin_seed);
  }

  // Another model forgets what the one before remembered. REQUIRES: the policy before is still there.
  void Follow(const SyncPolicy& policy, bool aggregates, std::uint64_t coin_seed);

  // Whether the model lets this pull be answered now.
  bool MayAnswer(const PullEvent& pull, const Progress& progress, const IdleIterations& idle, TimePoint now);
  // Whether the block may leave its iteration: yes, no, or at a time that is still to come.
  // REQUIRES: progress.MayPass().
  Advance MayAdvance(const Progress& progress, TimePoint now);
  // How far the block may leap at once: `end`, or less.
  [[nodiscard]] Iteration StrideWithin(Iteration end, const Progress& progress, TimePoint now) const;
  // The block has come to be, or to another iteration.
  void Begin(TimePoint now) { advanced_at_ = now; }
  // ... `own`: past an iteration that was not idle.
  void Advanced(bool own, TimePoint now);
  // If the block has advanced since the last call: delayed pulls of a progress below this go.
  std::optional<Iteration> TakeReleased(const IdleIterations& idle);

  // Idle marks hold only while all members step in the same order. A member that began later than others, and
  // models that leave iterations out, shift it.
  [[nodiscard]] bool KeepsOrder(const Progress& progress) const {
    return progress.BeganTogether() && !policy_->model->ForWorker().skips_ahead;
  }

  [[nodiscard]] const SyncPolicy& policy() const { return *policy_; }
  [[nodiscard]] Late late() const { return late_; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  void Load(const Memory& memory) { memory_ = memory; }

 private:
  [[nodiscard]] SyncView View(const ProgressView& progress, Iteration v_train, TimePoint now) const {
    return {.now = now, .v_train = v_train, .advanced_at = advanced_at_, .progress = progress};
  }

  const SyncPolicy* policy_ = nullptr;
  std::uint64_t coin_seed_ = 0;
  Late late_ = Late::kDrop;
  Memory memory_;
  TimePoint advanced_at_;
  bool advanced_ = false;      // since the last TakeReleased
  bool advanced_own_ = false;  // ... past an iteration that was not idle
};

}  // namespace leeway
