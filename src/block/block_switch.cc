// Another synchronization model or apply mode, while training runs.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "block/block_core.h"

namespace leeway {

namespace {

// What a model was made from: its spec without the options that every model takes.
SpecTerm ModelTerm(const SyncPolicy& sync) {
  SpecTerm term = sync.resolved;
  const std::vector<std::string> shared = SyncPolicyKeys();
  std::erase_if(term.args, [&](const SpecArg& arg) { return std::ranges::count(shared, arg.key) > 0; });
  return term;
}

}  // namespace

void Block::Core::Follow(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed) {
  sync_ = &sync;
  if (!KeepsOrder()) idle_.Clear();
  options_.apply = apply;
  options_.coin_seed = coin_seed;
  aggregate_ = apply.kind == ApplyMode::Kind::kAggregate;
  sums_ahead_ = aggregate_ && sync.model->SumsAhead();
  late_ = LateOf(sync, aggregate_);
  sums_.SetOrdered(apply.ordered);
  kept_.SetLimit(apply.dc_versions);
}

void Block::Core::Switch(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed,
                         TimePoint now) {
  // Who is missing under the old model is whom those that this frees have waited for.
  const std::vector<WorkerId> missing = pulls_.size() > 0 ? progress_.Missing() : std::vector<WorkerId>{};
  const std::optional<WorkerId> whom = missing.empty() ? std::nullopt : std::optional(missing.front());
  if (ModelTerm(*sync_) != ModelTerm(sync)) memory_.clear();
  Follow(sync, apply, coin_seed);
  ++counters_.switches;
  if (!aggregate_) FoldAll(1);
  if (sums_ahead_) sums_.MergeInto(progress_.v_train());
  AdvanceWhilePossible(now);
  Release(whom, now);
  OpenWindow();
  Duration waited{};
  for (const WaitingPull& waiting : pulls_.TakeDelayed()) {
    if (Lets(waiting.pull, now)) {
      waited += Settle(waiting, now);
      Answer(waiting.pull, whom.value_or(kNoWorker));
    } else {
      // It goes on waiting as before: no other DPR, and since when it did.
      (void)pulls_.Delay(waiting.pull, waiting.since);
    }
  }
  counters_.ChargeWait(whom.value_or(kNoWorker), waited);
}

}  // namespace leeway
