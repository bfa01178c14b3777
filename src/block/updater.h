// Updater: what changes the values of a block: initial values, gradients, the sums of closed iterations, and
// arrays that a worker sets.
//
// Owns the values, the open sums and the versions kept for delay compensation. A change that there is no
// memory for, or whose result is not finite, changes nothing. The block says which iteration a gradient
// belongs to and how many members share its step. Thread rule: the block's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "block/apply_mode.h"
#include "block/block_counters.h"
#include "block/block_events.h"
#include "block/block_state.h"
#include "block/buffer_pool.h"
#include "block/gradient.h"
#include "block/idle_iterations.h"
#include "block/kept_versions.h"
#include "block/open_sums.h"
#include "block/progress.h"
#include "block/values.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/table.h"

namespace leeway {

class Updater {
 public:
  // Borrows the optimizer and the pool.
  Updater(std::size_t elements, NonFinite nonfinite, const Optimizer& optimizer, BufferPool& pool)
      : nonfinite_(nonfinite), pool_(pool), values_(elements, optimizer, pool), sums_(false, pool) {}

  // How later gradients are applied. With `sums_ahead` gradients of later iterations go into the open sum.
  // Sums that are open stay as they are.
  void Follow(const ApplyMode& apply, bool sums_ahead);

  // The next three return nothing if the owner of the array took it back while it was read: then nothing has
  // changed, and the array comes again. They add to `counters` the memory that was missing.

  // kInitialized, also where there are values already; kRefused if the values do not fit or are not finite.
  std::optional<Verdict> Initialize(Gradient values, BlockCounters& counters);
  // The share of a gradient in the step of its iteration.
  struct Share {
    Iteration into{};             // whose sum it is added to (aggregate)
    std::uint32_t members = 1;    // that share the step (immediate)
    std::uint64_t staleness = 0;  // in versions
  };
  // kApplied, kSummed or kRefused.
  std::optional<Verdict> Push(const PushEvent& push, Gradient gradient, const Share& share,
                              BlockCounters& counters);
  // kApplied; kLateDropped if the optimizer has run since the version that the worker reads; kRefused.
  std::optional<Verdict> Assign(const AssignEvent& assign, Gradient array, BlockCounters& counters);

  // Applies what was summed for `iteration`, as d of so many members gave it. Without a gradient the
  // optimizer is not run (torch's grad=None).
  void ApplySum(Iteration iteration, std::uint32_t members, BlockCounters& counters);
  // The same for all iterations. Each counts at least so many members.
  void ApplyAllSums(const Progress& progress, std::uint32_t members_at_least, BlockCounters& counters);
  // The lowest iteration that has a sum.
  [[nodiscard]] std::optional<Iteration> FirstOpen() const { return sums_.First(); }
  // The block has passed iterations up to `last`. Under relay its content is from now on the mean of `last`,
  // or no gradient if nobody gave one.
  void Passed(Iteration last);
  // The content under relay: which iteration's mean, -1 for none; whether nobody gave a gradient to it;
  // whether nobody has given one to any iteration, so that the values are the initial ones.
  struct Content {
    Iteration mean{-1};
    bool no_gradient = false;
    bool initial = true;
  };
  [[nodiscard]] const Content& content() const { return content_; }
  // Adds the sums of iterations above `into` to that of `into`.
  void MergeInto(Iteration into) { sums_.MergeInto(into); }

  // The versions since `base`, and `unapplied`, those that open iterations will make before. Nothing if the
  // base is not known here.
  [[nodiscard]] std::optional<std::uint64_t> StalenessOf(Version base, std::int64_t unapplied) const;
  // The worker is answered with the values of now, and may compute on them.
  void Sent(WorkerId worker) { kept_.Sent(worker, values_.version(), values_.current()); }
  // The worker has gone.
  void Forget(WorkerId worker) { kept_.Forget(worker); }

  void Save(BlockState& state) const;
  // Under relay nobody asks for the mean of a block that was saved: every rank has stepped with it before.
  // REQUIRES: no values have come; the state fits.
  void Load(const BlockState& state);

  [[nodiscard]] bool Reserve() { return values_.Reserve(); }
  [[nodiscard]] BufferRef TakeFirst() { return values_.TakeFirst(); }
  [[nodiscard]] const Values& values() const { return values_; }
  [[nodiscard]] bool aggregates() const { return apply_.kind == ApplyMode::Kind::kAggregate; }
  [[nodiscard]] bool relays() const { return apply_.relay; }
  [[nodiscard]] bool sums_ahead() const { return sums_ahead_; }
  // Whether each open iteration has a sum of its own.
  [[nodiscard]] bool SumsByIteration() const { return aggregates() && !sums_ahead_; }
  // Gradients of this iteration and of later ones do not fit now.
  [[nodiscard]] Iteration WindowEnd(const IdleIterations& idle) const {
    return SumsByIteration() ? idle.NthOwn(apply_.window - 1) + 1 : kIterationMax;
  }

 private:
  Values::Outcome Apply(const PushEvent& push, const Gradient& gradient, const Share& share,
                        BlockCounters& counters);
  // The gradient as it would be at the values of now. Null if the gradient is to be stepped on as it is: its
  // base is not kept, it is too large to be squared, or there is no memory. Compensation refuses no good
  // gradient.
  BufferRef Compensated(const PushEvent& push, const Gradient& gradient);

  const NonFinite nonfinite_;
  BufferPool& pool_;
  ApplyMode apply_;
  bool sums_ahead_ = false;
  Values values_;
  Content content_;
  OpenSums sums_;
  KeptVersions kept_;
};

}  // namespace leeway
