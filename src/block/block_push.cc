// What becomes of a push: whether it is the next of its life, whether it fits, what its verdict is.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutation.h"
#include "block/block_core.h"
#include "optimizer/kernels.h"

namespace leeway {

bool Block::Core::Admits(MemberKey from, Term term, Seq seq) {
  const Progress::Standing standing = progress_.StandingOf(from);
  // A life that this shard has not heard of comes back when the map and the roster are here.
  if (term != options_.term || standing == Progress::Standing::kStranger) {
    ++counters_.moved;
    Say(from, seq, BlockVerdict::kMoved);
    return false;
  }
  const Ledger::Decision decision = ledger_.Decide(from, seq);
  switch (decision.kind) {
    case Ledger::Decision::Kind::kRepeat:
      ++counters_.repeated;
      Say(from, seq, decision.verdict);
      return false;
    case Ledger::Decision::Kind::kForgotten:
      // A worker sends no push before it has the verdict of the fourth before it, so nobody waits for this
      // one's: it is a copy that was long under way. What its verdict was is not known here any more.
      ++counters_.repeated;
      return false;
    case Ledger::Decision::Kind::kGap:
      ++counters_.gaps;
      Say(from, decision.last, BlockVerdict::kGap);
      return false;
    case Ledger::Decision::Kind::kTake:
      if (standing == Progress::Standing::kMember) return true;
      break;  // its last is set: what it gives now could not count
    case Ledger::Decision::Kind::kFenced:
      break;
  }
  ++counters_.fenced;
  Say(from, seq, BlockVerdict::kFenced);
  return false;
}

void Block::Core::OnPush(const PushEvent& push, Gradient gradient, TimePoint now) {
  if (!Admits(push.from, push.term, push.seq)) return;
  if (push.iteration >= kIterationEnd) return Conclude(push.from, push.seq, BlockVerdict::kRefused, now);
  idle_.MarkOwn(push.iteration);
  if (!FitsWindow(push, now)) return;
  const std::optional<BlockVerdict> verdict = Take(push, std::move(gradient));
  // It was taken back while it was read, and comes again. What FitsWindow passed over for it stays passed.
  if (!verdict) return Release(push.from.worker, now);
  NoteSent(push.from.worker, push.iteration, now);
  Conclude(push.from, push.seq, *verdict, now);
}

void Block::Core::OnAbsent(const AbsentEvent& absent, TimePoint now) {
  if (absent.seq == Seq(0)) return Resume(absent, now);
  if (!Admits(absent.from, absent.term, absent.seq)) return;
  if (absent.iteration >= kIterationEnd)
    return Conclude(absent.from, absent.seq, BlockVerdict::kRefused, now);
  const bool is_idle = absent.idle && KeepsOrder();
  const bool newly_idle = is_idle && idle_.MarkIdle(absent.iteration);
  if (!absent.idle) idle_.MarkOwn(absent.iteration);
  NoteSent(absent.from.worker, absent.iteration, now);
  Conclude(absent.from, absent.seq, BlockVerdict::kAbsent, now);
  if (newly_idle || (is_idle && pulls_.IsDelayed(absent.from.worker))) ReleaseIdle(absent.from, now);
}

bool Block::Core::KeepsOrder() const {
  return progress_.BeganTogether() && !sync_->model->ForWorker().skips_ahead;
}

void Block::Core::NoteSent(WorkerId worker, Iteration iteration, TimePoint now) {
  if (pulls_.Waits(worker)) progress_.GoesOn(worker);
  progress_.Sent(worker, iteration, now);
}

void Block::Core::Resume(const AbsentEvent& where, TimePoint now) {
  const Progress::Standing standing = progress_.StandingOf(where.from);
  if (where.term != options_.term || standing == Progress::Standing::kStranger) {
    ++counters_.moved;
    return Say(where.from, Seq(0), BlockVerdict::kMoved);
  }
  if (standing == Progress::Standing::kReplaced) {
    ++counters_.fenced;
    return Say(where.from, Seq(0), BlockVerdict::kFenced);
  }
  // What it sent before and is not in the ledger was lost with the owner before: nobody waits for it.
  if (standing == Progress::Standing::kMember && where.iteration < kIterationEnd &&
      !LW_MUTATED(lost_is_awaited)) {
    progress_.Skipped(where.from.worker, where.iteration - 1);
    AdvanceWhilePossible(now);
  }
  ++counters_.resumed;
  Say(where.from, ledger_.LastOf(where.from), BlockVerdict::kGap);
  Release(where.from.worker, now);
}

bool Block::Core::FitsWindow(const PushEvent& push, TimePoint now) {
  const auto beyond = [&] { return push.iteration >= WindowEnd(); };
  if (!beyond()) return true;
  // The push will come again, but nothing before it: its worker is absent from all iterations up to here.
  // Otherwise workers that begin far ahead (a table made late) would all wait for each other.
  progress_.Skipped(push.from.worker, push.iteration - 1);
  AdvanceWhilePossible(now);
  if (!beyond()) return true;
  ++counters_.windows;
  notes_.Add({push.from, push.seq, push.iteration});
  Say(push.from, push.seq, BlockVerdict::kWindow);
  Release(push.from.worker, now);
  return false;
}

bool Block::Core::IsRefused(const PushEvent& push, const Gradient& gradient, bool late) const {
  if (!values_.initialized() || gradient.values().size() != options_.elements || push.samples == 0)
    return true;
  // An iteration counts once per life.
  return !late && push.iteration <= progress_.ProgressOf(push.from.worker).value_or(Iteration(-1));
}

// Whether a gradient is finite is found in the one pass that adds or applies it, which changes nothing if
// not.
std::optional<BlockVerdict> Block::Core::Take(const PushEvent& push, Gradient gradient) {
  const Iteration v_train = progress_.v_train();
  const bool late = push.iteration < std::max(v_train, progress_.FirstOf(push.from.worker));
  if (late && late_ == Late::kDrop) return BlockVerdict::kLateDropped;
  if (IsRefused(push, gradient, late)) return BlockVerdict::kRefused;
  const Iteration into = !aggregate_ || late || sums_ahead_ ? v_train : push.iteration;
  const std::optional<std::uint64_t> staleness = StalenessOf(push, into);
  Values::Outcome outcome{};
  if (aggregate_) {
    const bool any = options_.nonfinite == NonFinite::kAccept;
    outcome = sums_.Add(into, push, std::move(gradient), any);
  } else {
    outcome = Apply(push, gradient);
  }
  if (outcome == Values::Outcome::kTorn) return std::nullopt;
  // Refused, and not left without a verdict: the push would come again at once, with the same memory missing,
  // and its worker would stand still until then. Its sequence is used up, so that it never counts twice.
  if (outcome == Values::Outcome::kNoMemory) {
    ++counters_.no_memory;
    return BlockVerdict::kRefused;
  }
  if (outcome == Values::Outcome::kNonFinite) return BlockVerdict::kRefused;
  if (staleness) events_.OnStaleness(push.from.worker, *staleness);
  if (late) ++counters_.late_applied;
  return aggregate_ ? BlockVerdict::kSummed : BlockVerdict::kApplied;
}

// The versions since its base, and those of the open iterations that are applied before `into`, which sums
// it.
std::optional<std::uint64_t> Block::Core::StalenessOf(const PushEvent& push, Iteration into) const {
  // 0 is no version, and one that is not there yet is of an owner that was rolled back.
  if (push.base_version == Version(0) || push.base_version > values_.version()) return std::nullopt;
  return values_.version() - push.base_version +
         static_cast<std::uint64_t>(idle_.CountOwn(progress_.v_train(), into - 1));
}

Values::Outcome Block::Core::Apply(const PushEvent& push, const Gradient& gradient) {
  // The N of the gradient's own iteration, so that the steps of an iteration add up to one of the whole lr. A
  // member that sends an iteration before its first is no member of that.
  const Iteration own = std::max(push.iteration, progress_.FirstOf(push.from.worker));
  const std::uint32_t members = std::max(progress_.StepMembersAt(own), 1U);
  const std::uint64_t steps_since = StalenessOf(push, progress_.v_train()).value_or(0);
  float lr_scale = 1.0F / static_cast<float>(members);
  if (options_.apply.scale_by_staleness)
    lr_scale /= std::max(1.0F, static_cast<float>(steps_since) / static_cast<float>(members));
  const bool compensates = options_.apply.dc > 0.0F;
  const BufferRef compensated = compensates ? Compensated(push, gradient) : nullptr;
  const Values::Outcome outcome =
      values_.Step({.g = compensated != nullptr ? compensated->floats() : gradient.values(),
                    .lr_scale = lr_scale,
                    .hyper = push.hyper,
                    .publish_nonfinite = options_.nonfinite == NonFinite::kAccept,
                    .witness = gradient.witness()});
  if (outcome == Values::Outcome::kTorn) return outcome;  // no push: nothing is counted, it comes again
  if (compensates) {
    ++(compensated != nullptr ? counters_.compensated : counters_.uncompensated);
    kept_.Used(push.from.worker, push.base_version);
  }
  if (outcome != Values::Outcome::kPublished) return outcome;
  ++counters_.steps;
  return outcome;
}

// Null: as it is, since its base is not kept, it is too large to be squared, or there is no memory.
// Compensation refuses no good gradient.
BufferRef Block::Core::Compensated(const PushEvent& push, const Gradient& gradient) {
  const ConstBufferRef base = kept_.Find(push.base_version);
  if (base == nullptr) return nullptr;
  BufferRef compensated = pool_.Take(options_.elements);
  if (compensated == nullptr ||
      !kernels::Compensate(compensated->floats(), options_.apply.dc, gradient.values(),
                           values_.current()->floats(), base->floats())) {
    return nullptr;
  }
  return compensated;
}

void Block::Core::Conclude(MemberKey from, Seq seq, BlockVerdict verdict, TimePoint now) {
  ledger_.Record(from, seq, verdict);
  notes_.Drop(from);
  CountVerdict(verdict);
  AdvanceWhilePossible(now);
  Say(from, seq, verdict);
  Release(from.worker, now);
}

void Block::Core::CountVerdict(BlockVerdict verdict) {
  switch (verdict) {
    case BlockVerdict::kApplied:
      ++counters_.applied;
      return;
    case BlockVerdict::kSummed:
      ++counters_.summed;
      return;
    case BlockVerdict::kAbsent:
      ++counters_.absent;
      return;
    case BlockVerdict::kLateDropped:
      ++counters_.late_dropped;
      return;
    case BlockVerdict::kRefused:
      ++counters_.refused;
      return;
    default:
      LW_CHECK(false, "verdict {} consumes no sequence", static_cast<int>(verdict));
  }
}

}  // namespace leeway
