// Who is answered when: pulls that are answered now, wait, and are let go.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "block/block_core.h"
#include "block/own_progress.h"

namespace leeway {

void Block::Core::OnPull(const PullEvent& pull, TimePoint now) {
  if (pull.term != options_.term) {
    ++counters_.moved;
    Say(pull.from, Seq(0), BlockVerdict::kMoved);
    return;
  }
  if (progress_.StandingOf(pull.from) == Progress::Standing::kReplaced) {
    ++counters_.fenced;
    Say(pull.from, Seq(0), BlockVerdict::kFenced);
    return;
  }
  ++counters_.pulls;
  pulls_.Drop(pull.from.worker);
  AnswerOrWait(pull, now);
}

void Block::Core::AnswerOrWait(const PullEvent& pull, TimePoint now) {
  if (epoch_ < pull.epoch_min) return pulls_.Block(pull, now);
  if (!values_.initialized()) return pull.observer && IsDeserted() ? Answer(pull) : pulls_.Block(pull, now);
  // One that has left waits for nobody: those it would wait for may be gone as well.
  const bool observer = pull.observer || progress_.StandingOf(pull.from) == Progress::Standing::kGone;
  if (observer || Lets(pull, now)) return Answer(pull);
  if (pulls_.Delay(pull, now)) ++counters_.delayed;
}

bool Block::Core::Lets(const PullEvent& pull, TimePoint now) {
  const Iteration v_train = progress_.v_train();
  const Iteration progress = idle_.Counted(pull.progress);
  const OwnProgress own(progress_, idle_);
  const ProgressView& members = progress_;
  SyncView view{.now = now,
                .v_train = v_train,
                .advanced_at = advanced_at_,
                .progress = idle_.none() ? members : own,
                .significance = pull.significance};
  view.coin = UnitInterval(Hash64(
      {options_.coin_seed, pull.from.worker.value(), static_cast<std::uint64_t>(pull.progress.value())}));
  const bool lets = sync_->model->OnPull(view, memory_, pull.from.worker, progress) == PullVerdict::kNow;
  // A pull has no advance to wait for when v_train has passed its progress, or when only idle iterations are
  // left up to it, whatever a formula says.
  return lets || progress < v_train;
}

void Block::Core::Answer(const PullEvent& pull, WorkerId held_for) {
  const bool unchanged = pull.cached_version == values_.version();
  ++counters_.answers;
  if (unchanged) ++counters_.unchanged;
  if (!pull.observer) {
    // A peer may say anything; within what jobs have, no sum overflows.
    const Iteration said = std::clamp(pull.progress, Iteration(-1), kIterationEnd);
    counters_.lead_read.Add(idle_.Counted(said) + 1 - progress_.v_train());
    // One that has gone computes on nothing any more.
    if (progress_.StandingOf(pull.from) != Progress::Standing::kGone)
      kept_.Sent(pull.from.worker, values_.version(), values_.current());
  }
  events_.OnAnswer(options_.id, options_.term, pull.from,
                   {.progress = pull.progress,
                    .v_train = progress_.v_train(),
                    .version = values_.version(),
                    .values = unchanged ? nullptr : values_.current(),
                    .held_for = held_for});
}

Duration Block::Core::Settle(const WaitingPull& waiting, TimePoint now) {
  const Duration waited = now - waiting.since;
  counters_.delayed_wait += waited;
  progress_.Held(waiting.pull.from.worker, waited);
  return waited;
}

void Block::Core::Release(std::optional<WorkerId> whom, TimePoint now) {
  if (!std::exchange(advanced_, false)) return;
  // Soft release means the next advance that changes something: one past an idle iteration does not.
  const bool all = std::exchange(advanced_own_, false) && sync_->release == Release::kSoft;
  const Iteration below = all ? kIterationMax : idle_.NthOwn(0);
  ReleaseBelow(below, whom.value_or(kNoWorker), now);
  OpenWindow();
}

void Block::Core::ReleaseBelow(Iteration progress, WorkerId whom, TimePoint now) {
  Duration waited{};
  while (const std::optional<WaitingPull> waiting = pulls_.TakeDelayedBelow(progress)) {
    waited += Settle(*waiting, now);
    Answer(waiting->pull, whom);
  }
  counters_.ChargeWait(whom, waited);
}

void Block::Core::ReleaseIdle(MemberKey from, TimePoint now) {
  ReleaseBelow(idle_.NthOwn(0), from.worker, now);
  OpenWindow();
  // A pull comes before the marks of its own worker when a push in front of them was beyond the window. It
  // was delayed for want of the marks, so the model is asked again.
  if (!pulls_.IsDelayed(from.worker)) return;
  const std::optional<WaitingPull> waiting = pulls_.Take(from);
  if (!waiting) return;
  if (!Lets(waiting->pull, now)) {
    (void)pulls_.Delay(waiting->pull, waiting->since);
    return;
  }
  counters_.ChargeWait(from.worker, Settle(*waiting, now));
  Answer(waiting->pull, from.worker);
}

void Block::Core::ReleaseBlocked(TimePoint now) {
  if (!pulls_.any_blocked() || !(values_.initialized() || IsDeserted())) return;
  for (const WaitingPull& waiting : pulls_.TakeBlocked()) {
    counters_.blocked_wait += now - waiting.since;
    progress_.Held(waiting.pull.from.worker, now - waiting.since);
    AnswerOrWait(waiting.pull, now);
  }
}

void Block::Core::OpenWindow() {
  while (const auto note = notes_.TakeBelow(WindowEnd())) Say(note->from, note->seq, BlockVerdict::kOpen);
}

Iteration Block::Core::WindowEnd() const {
  // Where gradients are summed ahead there is one sum only.
  const bool window = aggregate_ && !sums_ahead_;
  return window ? idle_.NthOwn(options_.apply.window - 1) + 1 : kIterationMax;
}

}  // namespace leeway
