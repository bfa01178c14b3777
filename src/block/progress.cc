#include "block/progress.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutation.h"

namespace leeway {

namespace {

// The newest life of each worker, by rank.
std::vector<const MemberState*> NewestLives(std::span<const MemberState> roster) {
  std::vector<const MemberState*> lives;
  lives.reserve(roster.size());
  for (const MemberState& member : roster) lives.push_back(&member);
  const auto before = [](const MemberState* a, const MemberState* b) {
    if (a->key.worker != b->key.worker) return a->key.worker < b->key.worker;
    return a->key.incarnation > b->key.incarnation;
  };
  // It usually is: every block of every shard takes the same roster whenever one of many workers leaves.
  if (!std::ranges::is_sorted(lives, before)) std::ranges::stable_sort(lives, before);
  const auto same = [](const MemberState* a, const MemberState* b) { return a->key.worker == b->key.worker; };
  lives.erase(std::unique(lives.begin(), lives.end(), same), lives.end());
  return lives;
}

}  // namespace

std::vector<MemberKey> Progress::SetMembers(std::span<const MemberState> roster) {
  std::vector<MemberKey> ended;
  const std::vector<const MemberState*> newest = NewestLives(roster);
  auto at = newest.begin();
  lives_.ForEach([&](WorkerId worker, Life& life) {
    while (at != newest.end() && (*at)->key.worker < worker) ++at;
    const bool listed = at != newest.end() && (*at)->key.worker == worker;
    const bool over = !listed || (*at)->gone || (*at)->key.incarnation > life.incarnation;
    const bool finished = listed && (*at)->finished && (*at)->key.incarnation == life.incarnation;
    if (over && life.live) {
      ended.push_back({worker, life.incarnation});
      End(life, finished);
    }
    // A block that was loaded knows that the life is gone, and not why.
    if (finished) Finish(life);
  });
  for (const MemberState* member : newest) {
    const Life* const known = lives_.Find(member->key.worker);
    if (known == nullptr || known->incarnation < member->key.incarnation) Begin(*member);
  }
  CountVTrain();
  return ended;
}

void Progress::Begin(const MemberState& member) {
  Life life{.incarnation = member.key.incarnation, .first = member.first};
  // The members a job starts with begin where the roster says. One that joins later cannot be waited for in
  // the iteration under way.
  life.first = std::max(life.first, untouched_ ? v_train_ : v_train_ + 1);
  // The block holds what a former life gave: no iteration of one rank may count twice.
  if (const Life* const before = lives_.Find(member.key.worker); before != nullptr) {
    if (!LW_MUTATED(begins_below_former)) life.first = std::max(life.first, before->progress + 1);
    former_[member.key.worker] = {before->incarnation, Held(*before)};
    // A worker that has finished and comes back is one member, not two.
    if (before->finished) finished_.Remove(before->progress + 1);
  }
  life.progress = life.first - 1;
  life.live = !member.gone;
  Count(life);
  if (member.finished) Finish(life);
  lives_[member.key.worker] = life;
}

void Progress::Count(const Life& life) {
  if (!life.live) return;
  progress_.Add(life.progress);
  firsts_.Add(life.first);
  if (life.silent) silent_firsts_.Add(life.first);
}

ProgressState Progress::Save() const {
  ProgressState state{.v_train = v_train_,
                      .highest_sent = highest_sent_,
                      .untouched = untouched_,
                      .taken = taken_,
                      .lives = {},
                      .ended_firsts = ended_firsts_.Sorted(),
                      .ended_lasts = ended_lasts_.Sorted()};
  lives_.ForEach([&state](WorkerId worker, const Life& life) {
    state.lives.push_back({{worker, life.incarnation}, life.first, life.progress, life.live, life.silent});
  });
  return state;
}

void Progress::Load(const ProgressState& state) {
  LW_CHECK(lives_.empty(), "{} lives are known", lives_.size());
  v_train_ = state.v_train;
  highest_sent_ = state.highest_sent;
  untouched_ = state.untouched;
  taken_ = state.taken;
  loaded_ = true;
  for (const LifeState& from : state.lives) {
    const Life life{.incarnation = from.key.incarnation,
                    .live = from.live,
                    .silent = from.silent,
                    .saved = true,
                    .loaded = true,
                    .first = from.first,
                    .progress = from.progress};
    Count(life);
    lives_[from.key.worker] = life;
  }
  for (const Iteration first : state.ended_firsts) ended_firsts_.Add(first);
  for (const Iteration last : state.ended_lasts) ended_lasts_.Add(last);
  CountVTrain();
}

void Progress::End(Life& life, bool finished) {
  life.live = false;
  progress_.Remove(life.progress);
  firsts_.Remove(life.first);
  if (life.silent) silent_firsts_.Remove(life.first);
  // From there on finished_ counts one that has finished.
  const Iteration last = finished ? life.progress + 1 : std::max(life.progress + 1, v_train_);
  // Otherwise it counts for nothing that anyone can still send.
  if (last > Floor() && last > life.first) {
    ended_firsts_.Add(life.first);
    ended_lasts_.Add(last);
  }
}

void Progress::Finish(Life& life) {
  if (life.live || life.finished) return;
  life.finished = true;
  finished_.Add(life.progress + 1);
}

// Under a model that does not wait for everyone (drop, psp) the slowest member is behind v_train.
Iteration Progress::Floor() const {
  return progress_.empty() ? v_train_ : std::min(v_train_, progress_.lowest() + 1);
}

void Progress::Sent(WorkerId worker, Iteration i, TimePoint now) {
  Life& life = Member(worker);
  life.loaded = false;
  if (life.last_push) life.push_interval = std::max(now - *life.last_push - life.held, Duration(1));
  life.last_push = now;
  life.held = {};
  last_sender_ = worker;
  if (i > highest_sent_) last_fastest_ = worker;
  // One that is late or was sent before brings the iteration under way nothing.
  if (i >= v_train_ && i > life.progress) ++taken_;
  Raise(life, i);
}

void Progress::Held(WorkerId worker, Duration held) {
  if (Life* const life = lives_.Find(worker); life != nullptr && !life->goes_on) life->held += held;
}

void Progress::GoesOn(WorkerId worker) {
  Life& life = Member(worker);
  life.goes_on = true;
  life.held = {};
}

std::optional<WorkerId> Progress::IfLive(std::optional<WorkerId> worker) const {
  if (!worker) return worker;
  const Life* const life = lives_.Find(*worker);
  return life != nullptr && life->live ? worker : std::nullopt;
}

void Progress::Skipped(WorkerId worker, Iteration i) {
  Life& life = Member(worker);
  life.loaded = false;
  Raise(life, i);
}

Progress::Life& Progress::Member(WorkerId worker) {
  Life* const life = lives_.Find(worker);
  LW_CHECK(life != nullptr && life->live, "worker {} is no member", worker.value());
  return *life;
}

void Progress::Raise(Life& life, Iteration i) {
  if (i <= life.progress) return;
  progress_.Raise(life.progress, i);
  // Asked on every push, so it is kept up rather than counted again.
  if (life.first <= v_train_ && life.progress < v_train_ && i >= v_train_) ++count_at_v_train_;
  life.progress = i;
  if (life.silent) silent_firsts_.Remove(life.first);
  life.silent = false;
  untouched_ = false;
  highest_sent_ = std::max(highest_sent_, i);
}

Iteration Progress::Limit() const {
  Iteration limit = highest_sent_ + 1;
  if (!silent_firsts_.empty()) limit = std::max(limit, silent_firsts_.lowest());
  return limit;
}

bool Progress::MayPass() const {
  const bool nobody = progress_.empty() && (ended_lasts_.empty() || ended_lasts_.highest() <= v_train_);
  return !nobody && v_train_ < Limit();
}

Iteration Progress::StrideEnd() const {
  Iteration end = Limit();
  if (const auto next = progress_.NextFrom(v_train_)) end = std::min(end, *next + 1);
  for (const IterationMultiset* edges : {&firsts_, &ended_firsts_, &ended_lasts_}) {
    if (const auto next = edges->NextFrom(v_train_ + 1)) end = std::min(end, *next);
  }
  return end;
}

void Progress::AdvanceTo(Iteration i) {
  LW_CHECK(v_train_ < i && i <= Limit(), "got an advance from {} to {}, wanted at most {}", v_train_.value(),
           i.value(), Limit().value());
  v_train_ = i;
  last_slowest_ = last_sender_;
  taken_ = 0;
  untouched_ = false;
  // Passed lasts cancel their firsts in EndedAt, so it is enough to forget them once all are passed.
  if (!ended_lasts_.empty() && ended_lasts_.highest() <= Floor()) {
    ended_lasts_ = {};
    ended_firsts_ = {};
  }
  CountVTrain();
}

// Gone members that count for i; all of them have sent it.
std::uint32_t Progress::EndedAt(Iteration i) const {
  return ended_firsts_.CountUpTo(i) - ended_lasts_.CountUpTo(i);
}

std::uint32_t Progress::CountAt(Iteration i) const {
  if (i == v_train_) return count_at_v_train_;
  // One whose first is above i has a progress of at least i, since it stands at first - 1 or higher.
  return progress_.CountFrom(i) - firsts_.CountFrom(i + 1) + EndedAt(i);
}

std::uint32_t Progress::MembersAt(Iteration i) const {
  if (i == v_train_) return members_at_v_train_;
  return firsts_.CountUpTo(i) + EndedAt(i);
}

std::uint32_t Progress::StepMembersAt(Iteration i) const {
  return MembersAt(i) + (LW_MUTATED(finished_forgotten) ? 0 : finished_.CountUpTo(i));
}

void Progress::CountVTrain() {
  const std::uint32_t ended = EndedAt(v_train_);
  const std::uint32_t begun = firsts_.CountUpTo(v_train_);
  count_at_v_train_ = progress_.CountFrom(v_train_) - (firsts_.size() - begun) + ended;
  members_at_v_train_ = begun + ended;
}

Progress::Standing Progress::StandingOf(MemberKey life) const {
  const Life* const known = lives_.Find(life.worker);
  if (known == nullptr || known->incarnation < life.incarnation) return Standing::kUnknown;
  if (life.incarnation < known->incarnation) return Standing::kReplaced;
  return known->live ? Standing::kMember : Standing::kGone;
}

Iteration Progress::FirstOf(WorkerId worker) const {
  const Life* const life = lives_.Find(worker);
  LW_CHECK(life != nullptr, "worker {} is not known", worker.value());
  return life->first;
}

HeldLife Progress::Held(const Life& life) {
  return {.iteration = life.progress, .silent = life.silent, .patched = life.loaded};
}

std::optional<HeldLife> Progress::HeldOf(MemberKey life) const {
  const Life* const newest = lives_.Find(life.worker);
  if (newest != nullptr && newest->incarnation == life.incarnation) return Held(*newest);
  const auto former = former_.find(life.worker);
  if (former != former_.end() && former->second.incarnation == life.incarnation) return former->second.held;
  // Of lives before one that the block has had, or was saved with, it has everything.
  const bool followed = former != former_.end()
                            ? life.incarnation < former->second.incarnation
                            : newest != nullptr && newest->saved && life.incarnation < newest->incarnation;
  if (followed) return std::nullopt;
  // A block that was taken back may be older than the life; any other block has had nothing of it.
  return HeldLife{.patched = loaded_};
}

std::vector<WorkerId> Progress::Missing() const {
  std::vector<WorkerId> missing;
  lives_.ForEach([&](WorkerId worker, const Life& life) {
    if (life.live && life.first <= v_train_ && life.progress < v_train_) missing.push_back(worker);
  });
  return missing;
}

std::optional<Iteration> Progress::ProgressOf(WorkerId worker) const {
  const Life* const life = lives_.Find(worker);
  if (life == nullptr || !life->live) return std::nullopt;
  return life->progress;
}

Iteration Progress::Fastest() const { return progress_.empty() ? Iteration(-1) : progress_.highest(); }
Iteration Progress::Slowest() const { return progress_.empty() ? Iteration(-1) : progress_.lowest(); }

std::optional<Duration> Progress::PushInterval(WorkerId worker) const {
  const Life* const life = lives_.Find(worker);
  if (life == nullptr || !life->live) return std::nullopt;
  return life->push_interval;
}

}  // namespace leeway
