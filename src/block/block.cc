#include "block/block.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutation.h"

namespace leeway {

namespace {
// So many iterations are passed one by one, each with the model's word, before a leap is passed in strides.
constexpr std::uint32_t kStepsBeforeStride = 1024;
}  // namespace

Block::Block(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer,
             BufferPool& pool, BlockEvents& events)
    : place_{options.id, options.table, options.term, options.offset},
      events_(events),
      updater_(options.elements, options.nonfinite, optimizer, pool),
      sync_(sync, options.apply.kind == ApplyMode::Kind::kAggregate, options.coin_seed) {
  updater_.Follow(options.apply, sync.model->SumsAhead());
}

void Block::OnInit(MemberKey from, Term term, Gradient values, TimePoint now) {
  if (term != place_.term) return SayMoved(from, Seq(0));
  const std::optional<Verdict> verdict = updater_.Initialize(std::move(values), counters_);
  if (!verdict) return;  // they come again
  if (*verdict == Verdict::kRefused) ++counters_.refused;
  Say(from, Seq(0), *verdict);
  if (*verdict == Verdict::kInitialized) ReleaseUnready(now);
}

bool Block::Admits(MemberKey from, Term term, Seq seq) {
  const Progress::Standing standing = progress_.StandingOf(from);
  // A life that this shard has not heard of comes back when the map and the roster are here.
  if (term != place_.term || standing == Progress::Standing::kUnknown) {
    SayMoved(from, seq);
    return false;
  }
  const Ledger::Decision decision = ledger_.Decide(from, seq);
  switch (decision.kind) {
    case Ledger::Decision::Kind::kRepeat:
      ++counters_.repeated;
      Say(from, seq, decision.verdict);
      return false;
    case Ledger::Decision::Kind::kForgotten:
      // A worker sends no push before it has the verdict of the fourth before it, so nobody waits for the
      // verdict of this one: it is a copy that was long under way. The ledger no longer has its verdict.
      ++counters_.repeated;
      return false;
    case Ledger::Decision::Kind::kGap:
      ++counters_.gaps;
      Say(from, decision.last, Verdict::kGap);
      return false;
    case Ledger::Decision::Kind::kTake:
      if (standing == Progress::Standing::kMember) return true;
      break;  // its last is set: what it gives now could not count
    case Ledger::Decision::Kind::kFenced:
      break;
  }
  SayFenced(from, seq);
  return false;
}

void Block::OnPush(const PushEvent& push, Gradient gradient, TimePoint now) {
  if (!Admits(push.from, push.term, push.seq)) return;
  if (push.iteration >= kIterationEnd) return Conclude(push.from, push.seq, Verdict::kRefused, now);
  idle_.MarkOwn(push.iteration);
  if (!FitsWindow(push, now)) return;
  const std::optional<Verdict> verdict = Take(push, std::move(gradient));
  // It was taken back while it was read, and comes again. Iterations that FitsWindow passed stay passed.
  if (!verdict) return Release(push.from.worker, now);
  NoteSent(push.from.worker, push.iteration, now);
  Conclude(push.from, push.seq, *verdict, now);
}

bool Block::FitsWindow(const PushEvent& push, TimePoint now) {
  const auto beyond = [&] { return push.iteration >= updater_.WindowEnd(idle_); };
  if (!beyond()) return true;
  // The push will come again, but nothing before it: its worker is absent from all iterations up to here.
  // Otherwise workers that begin far ahead (a table made late) would all wait for each other.
  progress_.Skipped(push.from.worker, push.iteration - 1);
  AdvanceWhilePossible(now);
  if (!beyond()) return true;
  ++counters_.windows;
  notes_.Add({push.from, push.seq, push.iteration});
  Say(push.from, push.seq, Verdict::kWindow);
  Release(push.from.worker, now);
  return false;
}

std::optional<Verdict> Block::Take(const PushEvent& push, Gradient gradient) {
  const WorkerId worker = push.from.worker;
  const Iteration v_train = progress_.v_train();
  const Iteration first = progress_.FirstOf(worker);
  const bool late = push.iteration < std::max(v_train, first);
  if (late && sync_.late() == Late::kDrop) return Verdict::kLateDropped;
  // An iteration counts once per life.
  if (!late && push.iteration <= progress_.ProgressOf(worker).value_or(Iteration(-1)))
    return Verdict::kRefused;
  Updater::Share share{.into = late || !updater_.SumsByIteration() ? v_train : push.iteration};
  // The N of the gradient's own iteration, so that the steps of an iteration add up to one of the whole lr. A
  // member that sends an iteration before its first is no member of that.
  if (!updater_.aggregates())
    share.members = std::max(progress_.StepMembersAt(std::max(push.iteration, first)), 1U);
  const std::optional<std::uint64_t> staleness =
      updater_.StalenessOf(push.base_version, idle_.CountOwn(v_train, share.into - 1));
  share.staleness = staleness.value_or(0);
  const std::optional<Verdict> verdict = updater_.Push(push, std::move(gradient), share, counters_);
  if (!verdict || *verdict == Verdict::kRefused) return verdict;
  if (staleness) events_.OnStaleness(worker, *staleness);
  if (late) ++counters_.late_applied;
  return verdict;
}

void Block::NoteSent(WorkerId worker, Iteration iteration, TimePoint now) {
  if (pulls_.Waits(worker)) progress_.GoesOn(worker);
  progress_.Sent(worker, iteration, now);
}

void Block::OnAbsent(const AbsentEvent& absent, TimePoint now) {
  if (!Admits(absent.from, absent.term, absent.seq)) return;
  if (absent.iteration >= kIterationEnd) return Conclude(absent.from, absent.seq, Verdict::kRefused, now);
  const bool is_idle = absent.idle && sync_.KeepsOrder(progress_);
  const bool newly_idle = is_idle && idle_.MarkIdle(absent.iteration);
  if (!absent.idle) idle_.MarkOwn(absent.iteration);
  const WorkerId worker = absent.from.worker;
  if (updater_.relays() && absent.iteration == progress_.FirstOf(worker) && progress_.BeganLater(worker))
    ++newcomers_[absent.iteration];
  if (absent.iteration < progress_.FirstOf(worker)) ++counters_.absent_before;
  NoteSent(absent.from.worker, absent.iteration, now);
  Conclude(absent.from, absent.seq, Verdict::kAbsent, now);
  if (newly_idle || (is_idle && pulls_.IsDelayed(absent.from.worker))) ReleaseIdle(absent.from, now);
}

void Block::OnResume(const ResumeEvent& resume, TimePoint now) {
  const Progress::Standing standing = progress_.StandingOf(resume.from);
  if (resume.term != place_.term || standing == Progress::Standing::kUnknown)
    return SayMoved(resume.from, Seq(0));
  if (standing == Progress::Standing::kReplaced) return SayFenced(resume.from, Seq(0));
  // Pushes that it sent before and that are not in the ledger were lost with the owner before: nobody waits
  // for them.
  if (standing == Progress::Standing::kMember && resume.next < kIterationEnd &&
      !LW_MUTATED(lost_is_awaited)) {
    progress_.Skipped(resume.from.worker, resume.next - 1);
    AdvanceWhilePossible(now);
  }
  ++counters_.resumed;
  events_.OnResumed(place_.id, place_.term, resume.from, ledger_.LastOf(resume.from), progress_.v_train());
  Release(resume.from.worker, now);
}

void Block::OnAssign(const AssignEvent& assign, Gradient array) {
  if (!Admits(assign.from, assign.term, assign.seq)) return;
  const std::optional<Verdict> verdict = updater_.Assign(assign, std::move(array), counters_);
  if (!verdict) return;  // it comes again
  ledger_.Record(assign.from, assign.seq, *verdict);
  ++(*verdict == Verdict::kApplied ? counters_.assigned : counters_.unassigned);
  Say(assign.from, assign.seq, *verdict);
}

void Block::Conclude(MemberKey from, Seq seq, Verdict verdict, TimePoint now) {
  ledger_.Record(from, seq, verdict);
  notes_.Drop(from);
  counters_.CountVerdict(verdict);
  AdvanceWhilePossible(now);
  Say(from, seq, verdict);
  Release(from.worker, now);
}

void Block::OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now) {
  if (epoch < epoch_) return;
  if (epoch_ == Epoch(0)) sync_.Begin(now);
  epoch_ = epoch;
  const std::uint32_t members_before = progress_.StepMembersAt(progress_.v_train());
  const std::vector<MemberKey> ended = progress_.SetMembers(members);
  if (!sync_.KeepsOrder(progress_)) idle_.Clear();
  for (const MemberState& member : members) ledger_.Admit(member.key);
  for (const MemberKey life : ended) {
    notes_.Drop(life);
    updater_.Forget(life.worker);
  }
  if (!LW_MUTATED(dead_not_recounted)) AdvanceWhilePossible(now);
  // A gradient that came late to an iteration that nobody else will send has no advance to wait for.
  if (!progress_.any_live()) updater_.ApplyAllSums(progress_, members_before, counters_);
  for (const MemberKey life : ended) {
    const std::optional<WaitingPull> waiting = pulls_.Take(life);
    if (waiting && progress_.StandingOf(life) == Progress::Standing::kGone) AnswerOrWait(waiting->pull, now);
  }
  Release(ended.empty() ? progress_.LastSlowest() : ended.front().worker, now);
  ReleaseUnready(now);
}

void Block::OnTimer(TimePoint now) {
  wake_at_.reset();
  AdvanceWhilePossible(now);
  Release(progress_.LastSlowest(), now);
}

void Block::AdvanceWhilePossible(TimePoint now) {
  for (std::uint32_t steps = 0; progress_.MayPass(); ++steps) {
    const Advance may = sync_.MayAdvance(progress_, now);
    if (may.kind == Advance::Kind::kNo) return;
    if (may.kind == Advance::Kind::kAt) {
      // A timer that is set already need not be set again with every push. A stale one finds nothing to do.
      if (std::exchange(wake_at_, may.at) != may.at) events_.OnWakeAt(place_.id, may.at);
      return;
    }
    const Iteration before = progress_.v_train();
    updater_.ApplySum(before, StepMembersAt(before), counters_);
    Iteration next = before + 1;
    // A peer may leap as far as it likes, so iterations in which nothing differs are then passed at once.
    if (steps >= kStepsBeforeStride) {
      const Iteration sum = updater_.FirstOpen().value_or(kIterationMax);
      next = sync_.StrideWithin(std::min({progress_.StrideEnd(), sum, notify_at_}), progress_, now);
    }
    const bool own = idle_.CountOwn(before, next - 1) > 0;
    if (own) updater_.Passed(next - 1);
    progress_.AdvanceTo(next);
    idle_.AdvanceTo(next);
    NotifyIfReached();
    counters_.advances += static_cast<std::uint64_t>(next - before);
    sync_.Advanced(own, now);
  }
}

std::uint32_t Block::StepMembersAt(Iteration iteration) {
  const std::uint32_t members = progress_.StepMembersAt(iteration);
  std::uint32_t newcomers = 0;
  for (auto next = newcomers_.begin(); next != newcomers_.end() && next->first <= iteration;
       next = newcomers_.erase(next)) {
    if (next->first == iteration) newcomers = next->second;
  }
  return members - std::min(members, newcomers);
}

void Block::NotifyAt(Iteration iteration) {
  LW_CHECK(progress_.v_train() <= iteration, "block {} is in iteration {}, wanted it at {}",
           place_.id.value(), progress_.v_train().value(), iteration.value());
  notify_at_ = iteration;
  NotifyIfReached();
}

void Block::NotifyIfReached() {
  if (progress_.v_train() != notify_at_) return;
  notify_at_ = kIterationMax;
  events_.OnReached(place_.id);
}

void Block::Switch(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed, TimePoint now) {
  // The pulls that this frees have waited for the first worker that is missing under the old model.
  const std::vector<WorkerId> missing = pulls_.size() > 0 ? progress_.Missing() : std::vector<WorkerId>{};
  const std::optional<WorkerId> held_for = missing.empty() ? std::nullopt : std::optional(missing.front());
  updater_.Follow(apply, sync.model->SumsAhead());
  sync_.Follow(sync, updater_.aggregates(), coin_seed);
  if (!sync_.KeepsOrder(progress_)) idle_.Clear();
  ++counters_.switches;
  if (!updater_.aggregates()) updater_.ApplyAllSums(progress_, 1, counters_);
  if (updater_.sums_ahead()) updater_.MergeInto(progress_.v_train());
  AdvanceWhilePossible(now);
  Release(held_for, now);
  OpenWindow();
  Duration waited{};
  for (const WaitingPull& waiting : pulls_.TakeDelayed())
    waited += AskAgain(waiting, held_for.value_or(kNoWorker), now);
  counters_.ChargeWait(held_for.value_or(kNoWorker), waited);
}

BlockState Block::Save() const {
  BlockState state;
  updater_.Save(state);
  state.progress = progress_.Save();
  if (!LW_MUTATED(ledger_not_saved)) state.ledger = ledger_.Save();
  state.memory = sync_.memory();
  return state;
}

BlockArrays Block::Arrays() const {
  const Values& now = updater_.values();
  return {.version = now.version(), .steps = now.steps(), .values = now.current(), .slots = now.slots()};
}

void Block::Load(const BlockState& state) {
  LW_CHECK(epoch_ == Epoch(0) && !initialized(), "block {} is in use", place_.id.value());
  updater_.Load(state);
  progress_.Load(state.progress);
  idle_.AdvanceTo(progress_.v_train());
  ledger_.Load(state.ledger);
  sync_.Load(state.memory);
}

}  // namespace leeway
