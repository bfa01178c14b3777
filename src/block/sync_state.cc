#include "block/sync_state.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "block/own_progress.h"

namespace leeway {

namespace {

// The spec that a model was made from, without the options that every model takes.
SpecTerm ModelTerm(const SyncPolicy& policy) {
  SpecTerm term = policy.resolved;
  const std::vector<std::string> shared = SyncPolicyKeys();
  std::erase_if(term.args, [&](const SpecArg& arg) { return std::ranges::count(shared, arg.key) > 0; });
  return term;
}

// When everyone has gone, or nobody counts for the iteration (all died before they sent it, and others begin
// above it), nobody can make it more complete than it is. A formula may ask for a count all the same.
bool AnyoneCounts(const Progress& progress) {
  return progress.any_live() && progress.MembersAt(progress.v_train()) > 0;
}

// A time that has come is a yes.
Advance AsOf(const Advance& may, TimePoint now) {
  return may.kind == Advance::Kind::kAt && may.at <= now ? Advance::Yes() : may;
}

}  // namespace

void SyncState::Follow(const SyncPolicy& policy, bool aggregates, std::uint64_t coin_seed) {
  if (policy_ != nullptr && ModelTerm(*policy_) != ModelTerm(policy)) memory_.clear();
  policy_ = &policy;
  coin_seed_ = coin_seed;
  late_ = LateOf(policy, aggregates);
}

bool SyncState::MayAnswer(const PullEvent& pull, const Progress& progress, const IdleIterations& idle,
                          TimePoint now) {
  const Iteration own_progress = idle.Counted(pull.progress);
  const OwnProgress own(progress, idle);
  const ProgressView& members = progress;
  SyncView view = View(idle.none() ? members : own, progress.v_train(), now);
  view.significance = pull.significance;
  view.coin = UnitInterval(
      Hash64({coin_seed_, pull.from.worker.value(), static_cast<std::uint64_t>(pull.progress.value())}));
  const PullVerdict verdict = policy_->model->OnPull(view, memory_, pull.from.worker, own_progress);
  // A pull has no advance to wait for when v_train has passed its progress, or when only idle iterations are
  // left up to it. This holds against any formula.
  return verdict == PullVerdict::kNow || own_progress < progress.v_train();
}

Advance SyncState::MayAdvance(const Progress& progress, TimePoint now) {
  if (!AnyoneCounts(progress)) return Advance::Yes();
  return AsOf(policy_->model->MayAdvance(View(progress, progress.v_train(), now), memory_), now);
}

// Counts are the same up to `end`, but a formula may look at v_train itself. So the last iteration to be
// passed is asked about too, and a shorter stride is tried while the word is no. The model remembers nothing
// of these questions: nobody is in those iterations.
Iteration SyncState::StrideWithin(Iteration end, const Progress& progress, TimePoint now) const {
  const Iteration from = progress.v_train();
  while (AnyoneCounts(progress) && end > from + 1) {
    Memory scratch = memory_;
    const Advance may = AsOf(policy_->model->MayAdvance(View(progress, end - 1, now), scratch), now);
    if (may.kind == Advance::Kind::kYes) break;
    end = from + (end - from) / 2;
  }
  return end;
}

void SyncState::Advanced(bool own, TimePoint now) {
  advanced_ = true;
  advanced_own_ |= own;
  advanced_at_ = now;
}

std::optional<Iteration> SyncState::TakeReleased(const IdleIterations& idle) {
  if (!std::exchange(advanced_, false)) return std::nullopt;
  // Soft release means the next advance that changes something: one past an idle iteration does not.
  const bool all = std::exchange(advanced_own_, false) && policy_->release == Release::kSoft;
  return all ? kIterationMax : idle.NthOwn(0);
}

}  // namespace leeway
