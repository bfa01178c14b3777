// Who is answered when: pulls that are answered now, wait, and are let go.
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
  if (epoch_ < pull.epoch_min) return pulls_.Block(pull);
  if (!values_.initialized()) return pull.observer && IsDeserted() ? Answer(pull) : pulls_.Block(pull);
  // One that has left waits for nobody: those it would wait for may be gone as well.
  const bool observer = pull.observer || progress_.StandingOf(pull.from) == Progress::Standing::kGone;
  if (observer) return Answer(pull);
  SyncView view = View(now);
  view.significance = pull.significance;
  view.coin = UnitInterval(Hash64(
      {options_.coin_seed, pull.from.worker.value(), static_cast<std::uint64_t>(pull.progress.value())}));
  if (sync_.model->OnPull(view, memory_, pull.from.worker, pull.progress) == PullVerdict::kNow)
    return Answer(pull);
  if (pulls_.Delay(pull)) ++counters_.delayed;
}

void Block::Core::Answer(const PullEvent& pull) {
  const bool unchanged = pull.cached_version == values_.version();
  ++counters_.answers;
  if (unchanged) ++counters_.unchanged;
  events_.OnAnswer(options_.id, options_.term, pull.from,
                   {.progress = pull.progress,
                    .v_train = progress_.v_train(),
                    .version = values_.version(),
                    .values = unchanged ? nullptr : values_.current()});
}

void Block::Core::Release() {
  if (!std::exchange(advanced_, false)) return;
  const Iteration v_train = progress_.v_train();
  const Iteration below = sync_.release == Release::kSoft ? kIterationMax : v_train;
  while (const std::optional<PullEvent> pull = pulls_.TakeDelayedBelow(below)) Answer(*pull);
  while (const auto note = notes_.TakeBelow(v_train + options_.apply.window)) {
    Say(note->from, note->seq, BlockVerdict::kOpen);
  }
}

void Block::Core::ReleaseBlocked(TimePoint now) {
  if (!pulls_.any_blocked() || !(values_.initialized() || IsDeserted())) return;
  for (const PullEvent& pull : pulls_.TakeBlocked()) AnswerOrWait(pull, now);
}

}  // namespace leeway
