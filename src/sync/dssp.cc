// DSSP: ssp:lo, but a worker that reaches lo gets leave for further iterations, up to hi: as many as make its
// wait shortest (Zhao et al. 2019, "Dynamic Stale Synchronous Parallel", Algorithms 1 and 2).
//
// The model predicts the worker's position after r more iterations, and the slowest worker's next push, from
// the last push intervals of the two. It grants leave to a worker that is lo or more ahead without leave. A
// worker that has used its leave waits, and has no leave when it continues.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"

namespace leeway {
namespace {

// The progress up to which each worker has leave: the memory of a block. Ranks are dense, so it is an array
// of the low 32 bits behind a letter, as long as the highest rank that ever had leave. It has no place for
// ranks from kRanksMax on: they get leave anew with every pull.
class Grants {
 public:
  explicit Grants(Memory& memory) : memory_(memory) {}

  // Returns the iterations of leave left at `progress`: 0 when it is used up just here; nullopt without leave
  // within `most`.
  [[nodiscard]] std::optional<std::int64_t> LeftAt(WorkerId worker, Iteration progress,
                                                   std::int64_t most) const {
    if (!Sound() || At(worker) + sizeof(std::uint32_t) > memory_.size()) return std::nullopt;
    std::uint32_t until = 0;
    std::memcpy(&until, memory_.data() + At(worker), sizeof(until));
    // Stores iteration + 1, because 0 means that no leave was granted.
    if (until == 0) return std::nullopt;
    const auto left = static_cast<std::int32_t>(until - 1 - Low(progress));
    return left >= 0 && left <= most ? std::optional<std::int64_t>(left) : std::nullopt;
  }

  void Set(WorkerId worker, Iteration until) {
    if (worker.value() >= kRanksMax) return;
    if (!Sound()) memory_.assign(1, kLetter);
    const std::size_t end = At(worker) + sizeof(std::uint32_t);
    if (memory_.size() < end) memory_.resize(end, '\0');
    const std::uint32_t kept = Low(until) + 1;
    std::memcpy(memory_.data() + At(worker), &kept, sizeof(kept));
  }

 private:
  static constexpr char kLetter = 'g';
  static constexpr std::uint32_t kRanksMax = 4096;

  static std::size_t At(WorkerId worker) { return 1 + worker.index() * sizeof(std::uint32_t); }
  static std::uint32_t Low(Iteration i) { return static_cast<std::uint32_t>(i.value()); }
  bool Sound() const {
    return !memory_.empty() && memory_[0] == kLetter && (memory_.size() - 1) % sizeof(std::uint32_t) == 0 &&
           memory_.size() <= 1 + kRanksMax * sizeof(std::uint32_t);
  }

  Memory& memory_;
};

class Dssp final : public SyncModel {
 public:
  Dssp(std::int64_t lo, std::int64_t hi) : lo_(lo), hi_(hi) {}
  PullVerdict OnPull(const SyncView& view, Memory& memory, WorkerId worker,
                     Iteration progress) const override {
    const std::int64_t gap = progress - view.v_train;
    if (gap < lo_) return PullVerdict::kNow;
    if (gap >= hi_) return PullVerdict::kLater;
    Grants grants(memory);
    std::optional<std::int64_t> left = grants.LeftAt(worker, progress, hi_ - lo_);
    if (!left) {
      left = BestExtra(view, worker, hi_ - gap);
      grants.Set(worker, progress + *left);
    }
    return *left > 0 ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return hi_; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override {
    return fmt::format("progress < v_train + {}, or + up to {} while leave lasts", lo_, hi_);
  }
  std::string PushCondition() const override { return kEveryoneIsIn; }

 private:
  // Returns the r in 0 to `most` that ends nearest to the slowest worker's next push; 0 if a pace is unknown.
  static std::int64_t BestExtra(const SyncView& view, WorkerId worker, std::int64_t most) {
    const std::optional<WorkerId> slowest = view.progress.LastSlowest();
    if (!slowest || *slowest == worker) return 0;
    const std::optional<Duration> own = view.progress.PushInterval(worker);
    const std::optional<Duration> other = view.progress.PushInterval(*slowest);
    if (!own || !other || own->count() <= 0 || other->count() <= 0) return 0;
    // The slowest worker's last push was when the block came to v_train.
    const std::int64_t since = std::max((view.now - view.advanced_at).count(), std::int64_t{0});
    const auto wait_after = [&](std::int64_t r) {
      const auto at = static_cast<double>(since) + static_cast<double>(r) * static_cast<double>(own->count());
      const auto pace = static_cast<double>(other->count());
      const double pushes = std::max(std::ceil(at / pace), 1.0);
      return pushes * pace - at;
    };
    std::int64_t best = 0;
    double shortest = wait_after(0);
    for (std::int64_t r = 1; r <= most; ++r) {
      const double wait = wait_after(r);
      if (wait >= shortest) continue;
      best = r;
      shortest = wait;
    }
    return best;
  }

  const std::int64_t lo_, hi_;
};

}  // namespace

Result<SyncModelPtr> MakeDssp(const PolicyConfig& config) {
  // A decision looks at every r of the range.
  constexpr std::int64_t kRangeMax = 256;
  LW_ASSIGN_OR_RETURN(const std::int64_t lo, config.IntInRange("lo", 0, 1'000'000));
  LW_ASSIGN_OR_RETURN(const std::int64_t hi, config.IntInRange("hi", lo, lo + kRangeMax));
  return SyncModelPtr(std::make_unique<Dssp>(lo, hi));
}

}  // namespace leeway
