// Who is answered when: pulls that are answered now, wait, and are let go.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "block/block_core.h"

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
  SyncView view = View(now);
  view.significance = pull.significance;
  view.coin = UnitInterval(Hash64(
      {options_.coin_seed, pull.from.worker.value(), static_cast<std::uint64_t>(pull.progress.value())}));
  const bool lets = sync_->model->OnPull(view, memory_, pull.from.worker, pull.progress) == PullVerdict::kNow;
  // What v_train has passed already has no advance to wait for, whatever a formula says.
  return lets || pull.progress < progress_.v_train();
}

void Block::Core::Answer(const PullEvent& pull, WorkerId held_for) {
  const bool unchanged = pull.cached_version == values_.version();
  ++counters_.answers;
  if (unchanged) ++counters_.unchanged;
  if (!pull.observer) {
    // A peer may say anything; within what jobs have, no sum overflows.
    const Iteration said = std::clamp(pull.progress, Iteration(-1), kIterationEnd);
    counters_.lead_read.Add(said + 1 - progress_.v_train());
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
  const Iteration below = sync_->release == Release::kSoft ? kIterationMax : progress_.v_train();
  const WorkerId held_for = whom.value_or(kNoWorker);
  Duration waited{};
  while (const std::optional<WaitingPull> waiting = pulls_.TakeDelayedBelow(below)) {
    waited += Settle(*waiting, now);
    Answer(waiting->pull, held_for);
  }
  counters_.ChargeWait(held_for, waited);
  OpenWindow();
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
  return window ? progress_.v_train() + options_.apply.window : kIterationMax;
}

}  // namespace leeway
