// SyncBed: blocks of one model with so many workers, fed by hand and timed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "block/block.h"
#include "leeway/status.h"
#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway::bench {

class SyncBed final : public BlockEvents {
 public:
  enum class Event : std::uint8_t { kPush, kAbsent, kPull };
  // Nanoseconds of one event of each kind, by Event.
  using Costs = std::array<double, 3>;

  // Where the workers are: half of them run ahead of the others as far as the model lets them, up to
  // kRunAhead iterations, and are caught up with; or each is in an iteration of its own, which needs a model
  // that bounds nobody.
  enum class Places : std::uint8_t { kTwoHalves, kSpread };
  static constexpr std::int64_t kRunAhead = 4;

  [[nodiscard]] static Result<std::unique_ptr<SyncBed>> Make(const std::string& spec, std::uint32_t workers,
                                                             Places places = Places::kTwoHalves);

  // About `pairs` pushes, as many absents, and a pull after each. An error if a pull was never answered.
  [[nodiscard]] Result<Costs> Turn(std::uint32_t pairs);
  // Of all blocks together.
  [[nodiscard]] BlockCounters counters() const;

 private:
  struct Range {
    std::uint32_t begin = 0, end = 0;  // of the workers that come, in their order
  };

  SyncBed(SyncPolicy sync, const ApplyMode& apply, OptimizerPtr optimizer, std::uint32_t workers,
          Places places);

  // burst_ iterations of everybody; appends what its events cost.
  void Round(Event send, std::array<std::vector<double>, 3>& ns);
  // Feeds every block the events of the workers, which are `beyond` iterations ahead of the round's. Returns
  // nanoseconds per event.
  double Phase(Event event, Range workers, std::int64_t beyond);
  void Feed(Block& block, Event event, std::uint32_t at, std::int64_t beyond);

  void OnVerdict(BlockId, Term, MemberKey, Seq, Verdict, Iteration) override {}
  void OnAnswer(BlockId, Term, MemberKey, const BlockAnswer&) override {}
  void OnResumed(BlockId, Term, MemberKey, Seq, Iteration) override {}
  void OnWakeAt(BlockId, TimePoint) override {}
  void OnReached(BlockId) override {}

  BufferPool pool_;
  const SyncPolicy sync_;
  const OptimizerPtr optimizer_;
  const std::uint32_t workers_;
  const std::int64_t burst_;  // iterations of a round
  const BufferRef gradient_;
  std::vector<WorkerId> order_;  // in which workers come: not by rank, which caches would guess
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<std::int64_t> places_;  // as in order_: how far ahead of the round's iteration one is
  std::int64_t iteration_ = 0;        // of the round
  std::uint64_t seq_ = 1;             // of everybody's push in the round's first iteration
};

}  // namespace leeway::bench
