#include "block/updater.h"

#include <algorithm>
#include <utility>

#include "optimizer/kernels.h"

namespace leeway {

namespace {

using Outcome = Values::Outcome;

struct Owned {
  BufferRef buffer{};
  Outcome outcome = Outcome::kPublished;
};

// The array in a buffer that the block may keep: its own one, or a copy in the one that `take` gives.
template <typename Take>
Owned Own(Gradient array, Take take) {
  Owned own{.buffer = array.TakeBuffer()};
  bool finite = true;
  if (own.buffer != nullptr) {
    finite = kernels::AllFinite(own.buffer->floats());
  } else {
    own.buffer = take();
    if (own.buffer == nullptr) return {.outcome = Outcome::kNoMemory};
    finite = kernels::ScaleInto(own.buffer->floats(), array.values(), 1.0F);
    if (!array.Whole()) return {.outcome = Outcome::kTorn};
  }
  if (!finite) own.outcome = Outcome::kNonFinite;
  return own;
}

// The verdict of a change that did not happen.
//
// Without memory a push is refused, and not left without a verdict: it would come again at once, with the
// same memory missing, and its worker would stand still until then. Its sequence is used up, so that it never
// counts twice.
std::optional<Verdict> Failed(Outcome outcome, BlockCounters& counters) {
  if (outcome == Outcome::kTorn) return std::nullopt;
  if (outcome == Outcome::kNoMemory) ++counters.no_memory;
  return Verdict::kRefused;
}

}  // namespace

void Updater::Follow(const ApplyMode& apply, bool sums_ahead) {
  apply_ = apply;
  sums_ahead_ = aggregates() && sums_ahead;
  sums_.SetOrdered(apply.ordered);
  kept_.SetLimit(apply.dc_versions);
}

std::optional<Verdict> Updater::Initialize(Gradient values, BlockCounters& counters) {
  if (values.values().size() != values_.elements()) return Verdict::kRefused;
  if (values_.initialized()) return Verdict::kInitialized;
  Owned own = Own(std::move(values), [this] { return values_.TakeFirst(); });
  // One value that is not finite would make every later one so.
  const bool accepted = own.outcome == Outcome::kNonFinite && nonfinite_ == NonFinite::kAccept;
  if (own.outcome != Outcome::kPublished && !accepted) return Failed(own.outcome, counters);
  if (!values_.Initialize(std::move(own.buffer))) return Failed(Outcome::kNoMemory, counters);
  return Verdict::kInitialized;
}

// The one pass that adds or applies a gradient also finds whether it is finite.
std::optional<Verdict> Updater::Push(const PushEvent& push, Gradient gradient, const Share& share,
                                     BlockCounters& counters) {
  if (!values_.initialized() || gradient.values().size() != values_.elements() || push.samples == 0)
    return Verdict::kRefused;
  Outcome outcome{};
  if (aggregates()) {
    outcome = sums_.Add(share.into, push, std::move(gradient), nonfinite_ == NonFinite::kAccept);
  } else {
    outcome = Apply(push, gradient, share, counters);
  }
  if (outcome != Outcome::kPublished) return Failed(outcome, counters);
  return aggregates() ? Verdict::kSummed : Verdict::kApplied;
}

std::optional<std::uint64_t> Updater::StalenessOf(Version base, std::int64_t unapplied) const {
  // 0 is no version, and one that is not there yet is of an owner that was rolled back.
  if (base == Version(0) || base > values_.version()) return std::nullopt;
  return values_.version() - base + static_cast<std::uint64_t>(unapplied);
}

Values::Outcome Updater::Apply(const PushEvent& push, const Gradient& gradient, const Share& share,
                               BlockCounters& counters) {
  const auto members = static_cast<float>(share.members);
  float lr_scale = 1.0F / members;
  if (apply_.scale_by_staleness) lr_scale /= std::max(1.0F, static_cast<float>(share.staleness) / members);
  const bool compensates = apply_.dc > 0.0F;
  const BufferRef compensated = compensates ? Compensated(push, gradient) : nullptr;
  const Outcome outcome =
      values_.Step({.g = compensated != nullptr ? compensated->floats() : gradient.values(),
                    .lr_scale = lr_scale,
                    .hyper = push.hyper,
                    .publish_nonfinite = nonfinite_ == NonFinite::kAccept,
                    .witness = gradient.witness()});
  if (outcome == Outcome::kTorn) return outcome;  // no push: nothing is counted, it comes again
  if (compensates) {
    ++(compensated != nullptr ? counters.compensated : counters.uncompensated);
    kept_.Used(push.from.worker, push.base_version);
  }
  if (outcome == Outcome::kPublished) ++counters.steps;
  return outcome;
}

BufferRef Updater::Compensated(const PushEvent& push, const Gradient& gradient) {
  const ConstBufferRef base = kept_.Find(push.base_version);
  if (base == nullptr) return nullptr;
  BufferRef compensated = pool_.Take(values_.elements());
  if (compensated == nullptr || !kernels::Compensate(compensated->floats(), apply_.dc, gradient.values(),
                                                     values_.current()->floats(), base->floats())) {
    return nullptr;
  }
  return compensated;
}

std::optional<Verdict> Updater::Assign(const AssignEvent& assign, Gradient array, BlockCounters& counters) {
  const std::size_t arrays = 1 + values_.slots().size();
  if (!values_.initialized() || assign.array >= arrays || array.values().size() != values_.elements())
    return Verdict::kRefused;
  // The worker has not seen what the optimizer has made since: setting values would undo gradients of others.
  // Version 0 is what a worker has read under an owner before: only an optimizer that never ran lets it pass.
  // A version that is not there yet is of such an owner as well.
  if (assign.base_version < values_.stepped() || assign.base_version > values_.version())
    return Verdict::kLateDropped;
  if (!content_.initial) return Verdict::kRefused;  // relay: it is a mean, and no parameter any more
  const bool sets_values = assign.array == 0;
  Owned own = Own(std::move(array), [&] {
    return pool_.Take(values_.elements(), sets_values ? Arena::Use::kSent : Arena::Use::kKept);
  });
  const bool accepted = own.outcome == Outcome::kNonFinite && sets_values && nonfinite_ == NonFinite::kAccept;
  if (own.outcome != Outcome::kPublished && !accepted) return Failed(own.outcome, counters);
  if (!sets_values) {
    values_.AssignSlot(assign.array - std::size_t{1}, std::move(own.buffer), assign.steps);
    return Verdict::kApplied;
  }
  values_.Assign(std::move(own.buffer));
  // A gradient of before is not compensated across it: the way between the two is nobody's gradient.
  kept_.Clear();
  return Verdict::kApplied;
}

void Updater::ApplySum(Iteration iteration, std::uint32_t members, BlockCounters& counters) {
  const std::optional<OpenSums::Closed> closed = sums_.Close(iteration);
  if (!closed) return;
  if (closed->hyper_mismatch) ++counters.hyper_mismatches;
  if (closed->sum == nullptr) {
    ++counters.no_memory;
    return;
  }
  const double share = static_cast<double>(closed->contributors) / std::max(members, 1U);
  // Under relay the share of the contributors is part of the mean: a script's optimizer knows no lr_scale.
  const double mean_scale = closed->mean_scale;
  const Outcome outcome =
      values_.Step({.g = std::as_const(*closed->sum).floats(),
                    .g_scale = static_cast<float>(apply_.relay ? mean_scale * share : mean_scale),
                    .lr_scale = static_cast<float>(share),
                    .hyper = closed->hyper,
                    .publish_nonfinite = nonfinite_ == NonFinite::kAccept});
  if (outcome == Outcome::kNoMemory) {
    ++counters.no_memory;
  } else {
    ++(outcome == Outcome::kPublished ? counters.steps : counters.overflowed);
  }
  if (apply_.relay && outcome == Outcome::kPublished) content_ = {.mean = iteration, .initial = false};
}

void Updater::Passed(Iteration last) {
  if (!apply_.relay || !values_.initialized() || content_.mean == last) return;
  values_.PassVersion();
  content_.mean = last;
  content_.no_gradient = true;
}

void Updater::ApplyAllSums(const Progress& progress, std::uint32_t members_at_least,
                           BlockCounters& counters) {
  while (const std::optional<Iteration> open = sums_.First())
    ApplySum(*open, std::max(progress.StepMembersAt(*open), members_at_least), counters);
}

void Updater::Save(BlockState& state) const {
  values_.Save(state);
  state.sums = sums_.Save();
}

void Updater::Load(const BlockState& state) {
  values_.Load(state);
  sums_.Load(state.sums);
  if (apply_.relay && values_.initialized())
    content_ = {.mean = state.progress.v_train - 1, .no_gradient = true, .initial = false};
}

}  // namespace leeway
