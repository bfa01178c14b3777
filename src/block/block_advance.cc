// When an iteration is over, and what is applied then.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "block/block_core.h"

namespace leeway {

namespace {
// So many iterations are passed one by one, each with the model's word, before a leap is passed in strides.
constexpr std::uint32_t kStepsBeforeStride = 1024;
}  // namespace

void Block::Core::AdvanceWhilePossible(TimePoint now) {
  for (std::uint32_t steps = 0; progress_.MayPass(); ++steps) {
    // When everyone has gone, or nobody counts for the iteration (all died before they sent it, and others
    // begin above it), nobody can make it more complete than it is: a formula may ask for a count all the
    // same.
    const bool anyone = progress_.any_live() && progress_.MembersAt(progress_.v_train()) > 0;
    const Advance may = anyone ? sync_->model->MayAdvance(View(now), memory_) : Advance::Yes();
    if (may.kind == Advance::Kind::kNo) return;
    if (may.kind == Advance::Kind::kAt && may.at > now) return WakeAt(may.at);
    const Iteration before = progress_.v_train();
    Fold(before, progress_.StepMembersAt(before));
    Iteration next = before + 1;
    // A peer may leap as far as it likes, so iterations in which nothing differs are then passed at once.
    if (steps >= kStepsBeforeStride)
      next = StrideWithin(
          std::min({progress_.StrideEnd(), sums_.First().value_or(kIterationMax), notify_at_}), now);
    advanced_own_ |= idle_.CountOwn(before, next - 1) > 0;
    progress_.AdvanceTo(next);
    idle_.AdvanceTo(next);
    NotifyIfReached();
    counters_.advances += static_cast<std::uint64_t>(next - before);
    advanced_ = true;
    advanced_at_ = now;
  }
}

// Counts are the same up to `end`, but a formula may look at v_train itself: the last iteration to be passed
// is asked about too, and a shorter stride is tried while the word is no. What a model says of iterations
// that nobody is in has no business in its memory.
Iteration Block::Core::StrideWithin(Iteration end, TimePoint now) const {
  const Iteration from = progress_.v_train();
  while (progress_.any_live() && progress_.MembersAt(from) > 0 && end > from + 1) {
    SyncView view = View(now);
    view.v_train = end - 1;
    Memory scratch = memory_;
    const Advance may = sync_->model->MayAdvance(view, scratch);
    if (may.kind == Advance::Kind::kYes || (may.kind == Advance::Kind::kAt && may.at <= now)) break;
    end = from + (end - from) / 2;
  }
  return end;
}

// A timer that is set already need not be set again with every push. One that is stale finds nothing to do.
void Block::Core::WakeAt(TimePoint when) {
  if (wake_at_ == when) return;
  wake_at_ = when;
  events_.OnWakeAt(options_.id, when);
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

void Block::Core::FoldAll(std::uint32_t members_at_least) {
  while (const std::optional<Iteration> open = sums_.First())
    Fold(*open, std::max(progress_.StepMembersAt(*open), members_at_least));
}

// When everyone was absent the optimizer is not run (torch's grad=None).
void Block::Core::Fold(Iteration iteration, std::uint32_t members) {
  const std::optional<OpenSums::Closed> closed = sums_.Close(iteration);
  if (!closed) return;
  if (closed->hyper_mismatch) ++counters_.hyper_mismatches;
  if (closed->sum == nullptr) {
    ++counters_.no_memory;
    return;
  }
  members = std::max(members, 1U);
  const Values::Outcome outcome =
      values_.Step({.g = std::as_const(*closed->sum).floats(),
                    .g_scale = closed->mean_scale,
                    .lr_scale = static_cast<float>(closed->contributors) / static_cast<float>(members),
                    .hyper = closed->hyper,
                    .publish_nonfinite = options_.nonfinite == NonFinite::kAccept});
  if (outcome == Values::Outcome::kNoMemory) {
    ++counters_.no_memory;
  } else {
    ++(outcome == Values::Outcome::kPublished ? counters_.steps : counters_.overflowed);
  }
}

}  // namespace leeway
