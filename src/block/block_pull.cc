// Which pulls of a block are answered now, wait, and are released.
#include <algorithm>
#include <optional>

#include "block/block.h"
#include "block/wait_explanation.h"

namespace leeway {

void Block::OnPull(const PullEvent& pull, TimePoint now) {
  if (pull.term != place_.term) return SayMoved(pull.from, Seq(0));
  if (progress_.StandingOf(pull.from) == Progress::Standing::kReplaced) return SayFenced(pull.from, Seq(0));
  ++counters_.pulls;
  pulls_.Drop(pull.from.worker);
  AnswerOrWait(pull, now);
}

void Block::AnswerOrWait(const PullEvent& pull, TimePoint now) {
  if (epoch_ < pull.epoch_min) return pulls_.HoldUnready(pull, now);
  if (!initialized()) return pull.observer && HasNoMembers() ? Answer(pull) : pulls_.HoldUnready(pull, now);
  // A worker that has left waits for nobody: those it would wait for may be gone as well.
  const bool observer = pull.observer || progress_.StandingOf(pull.from) == Progress::Standing::kGone;
  if (observer || sync_.MayAnswer(pull, progress_, idle_, now)) return Answer(pull);
  if (pulls_.Delay(pull, now)) ++counters_.delayed;
}

void Block::Answer(const PullEvent& pull, WorkerId held_for, Duration held) {
  const Values& values = updater_.values();
  const bool unchanged = pull.cached_version == values.version();
  const Updater::Content& content = updater_.content();
  // A table that is made late has passed iterations before anybody has read its initial values.
  const bool begins = content.initial && pull.cached_version == Version(0);
  const bool no_gradient = content.no_gradient && !unchanged && !begins;
  ++counters_.answers;
  if (unchanged) ++counters_.unchanged;
  if (!pull.observer) {
    // A peer may say anything; within what jobs have, no sum overflows.
    const Iteration said = std::clamp(pull.progress, Iteration(-1), kIterationEnd);
    counters_.lead_read.Add(idle_.Counted(said) + 1 - progress_.v_train());
    // A worker that has gone computes on nothing any more.
    if (progress_.StandingOf(pull.from) != Progress::Standing::kGone) updater_.Sent(pull.from.worker);
  }
  events_.OnAnswer(place_.id, place_.term, pull.from,
                   {.ask = pull.ask,
                    .priority = pull.priority,
                    .v_train = progress_.v_train(),
                    .version = values.version(),
                    .values = unchanged || no_gradient ? nullptr : values.current(),
                    .mean = begins ? Iteration(-1) : content.mean,
                    .no_gradient = no_gradient,
                    .held_for = held_for,
                    .held = held});
}

Duration Block::AskAgain(const WaitingPull& waiting, WorkerId held_for, TimePoint now) {
  if (sync_.MayAnswer(waiting.pull, progress_, idle_, now)) return AnswerDelayed(waiting, held_for, now);
  (void)pulls_.Delay(waiting.pull, waiting.since);
  return Duration(0);
}

Duration Block::AnswerDelayed(const WaitingPull& waiting, WorkerId held_for, TimePoint now) {
  const Duration waited = now - waiting.since;
  counters_.delayed_wait += waited;
  progress_.Held(waiting.pull.from.worker, waited);
  Answer(waiting.pull, held_for, waited);
  return waited;
}

void Block::Release(std::optional<WorkerId> held_for, TimePoint now) {
  const std::optional<Iteration> below = sync_.TakeReleased(idle_);
  if (!below) return;
  ReleaseBelow(*below, held_for.value_or(kNoWorker), now);
  OpenWindow();
}

void Block::ReleaseBelow(Iteration progress, WorkerId held_for, TimePoint now) {
  Duration waited{};
  while (const std::optional<WaitingPull> waiting = pulls_.TakeDelayedBelow(progress))
    waited += AnswerDelayed(*waiting, held_for, now);
  counters_.ChargeWait(held_for, waited);
}

void Block::ReleaseIdle(MemberKey from, TimePoint now) {
  ReleaseBelow(idle_.NthOwn(0), from.worker, now);
  OpenWindow();
  // A pull comes before the marks of its own worker when a push in front of them was beyond the window. It
  // was delayed for want of the marks, so the model is asked again.
  if (!pulls_.IsDelayed(from.worker)) return;
  const std::optional<WaitingPull> waiting = pulls_.Take(from);
  if (waiting) counters_.ChargeWait(from.worker, AskAgain(*waiting, from.worker, now));
}

void Block::ReleaseUnready(TimePoint now) {
  if (!pulls_.any_unready() || !(initialized() || HasNoMembers())) return;
  for (const WaitingPull& waiting : pulls_.TakeUnready()) {
    counters_.blocked_wait += now - waiting.since;
    progress_.Held(waiting.pull.from.worker, now - waiting.since);
    AnswerOrWait(waiting.pull, now);
  }
}

void Block::OpenWindow() {
  while (const auto note = notes_.TakeBelow(updater_.WindowEnd(idle_)))
    Say(note->from, note->seq, Verdict::kOpen);
}

void Block::OnDisconnected(MemberKey who) {
  (void)pulls_.Take(who);
  notes_.Drop(who);
}

std::string Block::WhyWaiting() const {
  const std::vector<PullEvent> waiting = pulls_.List();
  if (waiting.empty()) return "";
  return ExplainWaits(waiting, {.initialized = initialized(),
                                .epoch = epoch_,
                                .v_train = progress_.v_train(),
                                .release = sync_.policy().release,
                                .missing = progress_.Missing()});
}

}  // namespace leeway
