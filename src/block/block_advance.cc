// When an iteration is over, and what is applied then.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "block/block_core.h"

namespace leeway {

void Block::Core::AdvanceWhilePossible(TimePoint now) {
  while (progress_.MayPass()) {
    const Advance may = sync_.model->MayAdvance(View(now), memory_);
    if (may.kind == Advance::Kind::kNo) return;
    if (may.kind == Advance::Kind::kAt && may.at > now) return events_.OnWakeAt(options_.id, may.at);
    const Iteration before = progress_.v_train();
    Fold(before);
    // Iterations in which nothing differs are passed in one stride, so that a far leap costs no more than a
    // step.
    const Iteration next =
        std::min({progress_.StrideEnd(), sums_.First().value_or(kIterationMax), notify_at_});
    progress_.AdvanceTo(next);
    NotifyIfReached();
    counters_.advances += static_cast<std::uint64_t>(next - before);
    advanced_ = true;
  }
}

void Block::Core::NotifyAt(Iteration iteration) {
  LW_CHECK(progress_.v_train() <= iteration, "block {} is in iteration {}, wanted it at {}",
           options_.id.value(), progress_.v_train().value(), iteration.value());
  notify_at_ = iteration;
  NotifyIfReached();
}

void Block::Core::NotifyIfReached() {
  if (progress_.v_train() != notify_at_) return;
  notify_at_ = kIterationMax;
  events_.OnReached(options_.id);
}

// Applies what was summed for `iteration`. When everyone was absent the optimizer is not run (torch's
// grad=None).
void Block::Core::Fold(Iteration iteration) {
  const std::optional<OpenSums::Closed> closed = sums_.Close(iteration);
  if (!closed) return;
  if (closed->hyper_mismatch) ++counters_.hyper_mismatches;
  const std::uint32_t members = std::max(progress_.MembersAt(iteration), 1U);
  const bool published =
      values_.Step({.g = std::as_const(*closed->sum).floats(),
                    .g_scale = closed->mean_scale,
                    .lr_scale = static_cast<float>(closed->contributors) / static_cast<float>(members),
                    .hyper = closed->hyper,
                    .publish_nonfinite = options_.nonfinite == NonFinite::kAccept});
  ++(published ? counters_.steps : counters_.overflowed);
}

}  // namespace leeway
