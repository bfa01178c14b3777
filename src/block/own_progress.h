// OwnProgress: what a block knows of its members, with progress counted in own iterations.
//
// A synchronization model gets it with a pull, so that a lead counts the steps of the block's own optimizer.
// Counts of members, paces and names are those of the job's clock. Borrows both for its life, one question of
// a block.
#pragma once

#include <optional>

#include "block/idle_iterations.h"
#include "leeway/sync_model.h"

namespace leeway {

class OwnProgress final : public ProgressView {
 public:
  OwnProgress(const ProgressView& progress, const IdleIterations& idle) : progress_(progress), idle_(idle) {}

  std::uint32_t CountAt(Iteration i) const override { return progress_.CountAt(i); }
  std::uint32_t MembersAt(Iteration i) const override { return progress_.MembersAt(i); }
  std::optional<Iteration> ProgressOf(WorkerId worker) const override {
    const std::optional<Iteration> progress = progress_.ProgressOf(worker);
    return progress ? idle_.Counted(*progress) : progress;
  }
  Iteration Fastest() const override { return idle_.Counted(progress_.Fastest()); }
  Iteration Slowest() const override { return idle_.Counted(progress_.Slowest()); }
  std::optional<Duration> PushInterval(WorkerId worker) const override {
    return progress_.PushInterval(worker);
  }
  std::optional<WorkerId> LastSlowest() const override { return progress_.LastSlowest(); }
  std::optional<WorkerId> LastFastest() const override { return progress_.LastFastest(); }
  std::uint32_t TakenSinceAdvance() const override { return progress_.TakenSinceAdvance(); }

 private:
  const ProgressView& progress_;
  const IdleIterations& idle_;
};

}  // namespace leeway
