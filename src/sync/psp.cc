// PSP: an iteration ends `tau` after the first `c` contributions are in, or with everybody's (PSP-SGD,
// Algorithm 1, server).
//
// With `ahead=sum` the block adds a gradient of a later iteration to the open one, as the paper does; then
// the contributions since the last advance count. The model's memory is the moment at which c contributions
// were in: no earlier than the last advance, and kept when members come and go.
#include <fmt/format.h>

#include <algorithm>

#include "base/policy_config.h"
#include "leeway/sync_model.h"
#include "sync/memory_words.h"
#include "sync/milliseconds.h"

namespace leeway {
namespace {

class Psp final : public SyncModel {
 public:
  Psp(std::uint32_t c, Duration tau, bool sums_ahead) : c_(c), tau_(tau), sums_ahead_(sums_ahead) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory& memory) const override {
    const std::uint32_t members = view.MembersAt(view.v_train);
    // Every member has sent this iteration or a later one: none will send more before it ends.
    if (view.CountAt(view.v_train) >= members) return Advance::Yes();
    const std::uint32_t count = sums_ahead_ ? view.progress.TakenSinceAdvance() : view.CountAt(view.v_train);
    if (count >= members) return Advance::Yes();
    if (count < std::min(c_, members)) return Advance::No();
    const TimePoint due = MetAt(view, memory) + tau_;
    return view.now >= due ? Advance::Yes() : Advance::At(due);
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  bool SumsAhead() const override { return sums_ahead_; }
  std::uint32_t WorkersNeeded() const override { return c_; }
  WorkerRule ForWorker() const override { return {.skips_ahead = true}; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override {
    return fmt::format("{} >= min({}, members) for {} ms, or {} >= members",
                       sums_ahead_ ? "taken since the last advance" : "count", c_, InMilliseconds(tau_),
                       sums_ahead_ ? "that" : "count");
  }

 private:
  static constexpr char kLetter = 'p';

  // The moment when this iteration first had c contributions; now, if it had not yet.
  TimePoint MetAt(const SyncView& view, Memory& memory) const {
    const auto words = ReadWords<2>(memory, kLetter);
    if (!words || (*words)[0] != view.v_train.value()) {
      WriteWords<2>(memory, kLetter, {view.v_train.value(), view.now.time_since_epoch().count()});
      return view.now;
    }
    // An earlier owner's clock says nothing here; advanced_at is when the block came here.
    return std::max(std::min(TimePoint(Duration((*words)[1])), view.now), view.advanced_at);
  }

  const std::uint32_t c_;
  const Duration tau_;
  const bool sums_ahead_;
};

}  // namespace

Result<SyncModelPtr> MakePsp(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t c, config.IntInRange("c", 1, 1'000'000));
  LW_ASSIGN_OR_RETURN(const Duration tau, MillisecondsOf(config, "tau_ms"));
  LW_ASSIGN_OR_RETURN(const std::string ahead, config.KeyedOneOf("ahead", {"keep", "sum"}, "keep"));
  return SyncModelPtr(std::make_unique<Psp>(static_cast<std::uint32_t>(c), tau, ahead == "sum"));
}

}  // namespace leeway
