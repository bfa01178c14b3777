// DSPS: ssp whose s follows the ratio of the slowest worker's pace to the fastest one's (Zhang et al. 2017;
// FluentPS, Table III).
//
//   dsps:lo,hi,every    s = clamp(round(t_slowest / t_fastest) - 1, lo, hi), anew every so many iterations
//
// The memory holds s and the iteration in which it was found.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/everyone.h"
#include "sync/memory_words.h"

namespace leeway {
namespace {

class Dsps final : public SyncModel {
 public:
  Dsps(std::int64_t lo, std::int64_t hi, std::int64_t every) : lo_(lo), hi_(hi), every_(every) {}
  PullVerdict OnPull(const SyncView& view, Memory& memory, WorkerId, Iteration progress) const override {
    return progress < view.v_train + Threshold(view, memory) ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override { return WhenEveryoneIsIn(view); }
  std::optional<std::int64_t> Lead() const override { return hi_; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override {
    return fmt::format(
        "progress < v_train + s, s = t_slowest / t_fastest - 1 within {} to {}, every {} iterations", lo_,
        hi_, every_);
  }
  std::string PushCondition() const override { return kEveryoneIsIn; }

 private:
  static constexpr char kLetter = 'd';

  std::int64_t Threshold(const SyncView& view, Memory& memory) const {
    std::int64_t s = lo_;
    if (const auto words = ReadWords<2>(memory, kLetter)) {
      const auto [found_at, found] = *words;
      const bool sound = found >= lo_ && found <= hi_ && found_at >= 0 && found_at <= view.v_train.value();
      if (sound && view.v_train.value() - found_at < every_) return found;
      if (sound) s = found;
    }
    // A worker's pace is unknown before its second push; until then the earlier s holds.
    const std::optional<double> ratio = SlownessRatio(view);
    if (!ratio) return s;
    const double wanted = std::round(*ratio) - 1.0;
    s = static_cast<std::int64_t>(std::clamp(wanted, static_cast<double>(lo_), static_cast<double>(hi_)));
    WriteWords<2>(memory, kLetter, {view.v_train.value(), s});
    return s;
  }

  static std::optional<double> SlownessRatio(const SyncView& view) {
    const std::optional<WorkerId> slowest = view.progress.LastSlowest(),
                                  fastest = view.progress.LastFastest();
    if (!slowest || !fastest) return std::nullopt;
    const std::optional<Duration> t_slowest = view.progress.PushInterval(*slowest);
    const std::optional<Duration> t_fastest = view.progress.PushInterval(*fastest);
    if (!t_slowest || !t_fastest || t_fastest->count() <= 0) return std::nullopt;
    return static_cast<double>(t_slowest->count()) / static_cast<double>(t_fastest->count());
  }

  const std::int64_t lo_, hi_, every_;
};

}  // namespace

Result<SyncModelPtr> MakeDsps(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t lo, config.IntInRange("lo", 0, 1'000'000));
  LW_ASSIGN_OR_RETURN(const std::int64_t hi, config.IntInRange("hi", lo, 1'000'000));
  LW_ASSIGN_OR_RETURN(const std::int64_t every, config.IntInRange("every", 1, 1'000'000));
  return SyncModelPtr(std::make_unique<Dsps>(lo, hi, every));
}

}  // namespace leeway
