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

class SyncBed final : private BlockEvents {
 public:
  enum class Event : std::uint8_t { kPush, kAbsent, kPull };
  // Nanoseconds of one event of each kind, by Event.
  using Costs = std::array<double, 3>;

  [[nodiscard]] static Result<std::unique_ptr<SyncBed>> Make(const std::string& spec, std::uint32_t workers);

  // About `pairs` pushes, as many absents, and a pull after each. An error if a pull was never answered.
  [[nodiscard]] Result<Costs> Turn(std::uint32_t pairs);

 private:
  SyncBed(SyncPolicy sync, const ApplyMode& apply, OptimizerPtr optimizer, std::uint32_t workers);

  // One iteration of everybody; appends what its events cost.
  void Round(Event send, std::array<std::vector<double>, 3>& ns);
  // Feeds every block the events of workers [begin, end); returns nanoseconds per event.
  double Phase(Event event, std::uint32_t begin, std::uint32_t end);
  void Feed(Block& block, Event event, WorkerId worker);

  void OnVerdict(BlockId, Term, MemberKey, Seq, BlockVerdict, Iteration) override {}
  void OnAnswer(BlockId, Term, MemberKey, const BlockAnswer&) override { ++answers_; }
  void OnWakeAt(BlockId, TimePoint) override {}
  void OnReached(BlockId) override {}

  BufferPool pool_;
  const SyncPolicy sync_;
  const OptimizerPtr optimizer_;
  const std::uint32_t workers_;
  const BufferRef gradient_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::int64_t iteration_ = 0;
  std::uint64_t pulls_ = 0, answers_ = 0;
};

}  // namespace leeway::bench
