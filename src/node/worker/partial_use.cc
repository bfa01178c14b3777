#include "node/worker/partial_use.h"

#include <algorithm>

namespace leeway {

void PartialUse::Begin() {
  partial_.Begin();
  Stop();
}

void PartialUse::CountArrived(const TableSet& tables, Iteration needed) {
  if (!partial_.enabled() || partial_.reached()) return;
  std::size_t here = 0, all = 0;
  tables.ForEachJobClock([&](const WorkerTable& table) {
    all += table.blocks.size();
    for (std::size_t i = 0; i < table.blocks.size(); ++i) here += table.landing.arrived(i) >= needed;
  });
  if (!partial_.Reaches(here, all)) return;
  timer_ = timers_.After(partial_.policy().tau, [this] {
    timer_ = {};
    partial_.Open();
    opened_();
  });
}

void PartialUse::OnWhole(WorkerTable& table) const {
  if (!partial_.enabled()) return;
  for (WorkerBlock& block : table.blocks) block.skipped = 0;
}

bool PartialUse::MayUse(const WorkerTable& table, Iteration needed) const {
  if (!partial_.open() || table.waiters.empty() || table.front_lent > 0) return false;
  const PairLanding& landing = table.landing;
  return std::ranges::none_of(table.blocks, [&](const WorkerBlock& block) {
    if (landing.arrived(block.index) >= needed || landing.HasNews(block.index)) return false;
    return block.skipped >= partial_.policy().skip_max || landing.published() < Iteration(-1);
  });
}

void PartialUse::Use(WorkerTable& table, Iteration needed) {
  const PairLanding& landing = table.landing;
  for (WorkerBlock& block : table.blocks) {
    const bool missing = landing.arrived(block.index) < needed;
    if (missing) block.passed = needed;
    if (missing && partial_.policy().late != PullPolicy::Late::kTake) {
      block.drops_late = true;
      block.pull.Drop();
    }
    if (!missing || landing.HasNews(block.index)) {
      block.skipped = 0;
      continue;
    }
    ++block.skipped;
    ++counters_.skipped_blocks;
    table.ended_by = &block;  // the time until here was spent on it
    table.ended_for = kNoWorker;
  }
  table.landing.PublishPartly(needed);
}

}  // namespace leeway
