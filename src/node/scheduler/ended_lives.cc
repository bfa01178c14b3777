#include "node/scheduler/ended_lives.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/mutation.h"

namespace leeway {

void EndedLives::Add(MemberKey life, Iteration first, Iteration settled) {
  lives_.try_emplace(life,
                     Life{.first = first, .settled = settled, .pending = true, .replaced = {}, .held = {}});
}

bool EndedLives::Left(MemberKey life, Iteration first, Iteration end) {
  const bool pending = !replaced_.empty() && !LW_MUTATED(ended_not_asked_again);
  lives_.try_emplace(life, Life{.first = first,
                                .settled = end,
                                .pending = pending,
                                .known = true,
                                .replaced = replaced_,
                                .held = {}});
  return pending;
}

std::vector<MemberKey> EndedLives::OnReplaced(ShardId shard) {
  std::vector<MemberKey> asked;
  replaced_.insert(shard);
  if (LW_MUTATED(ended_not_asked_again)) return asked;
  for (auto& [life, entry] : lives_) {
    entry.held.erase(shard);
    if (!entry.known) continue;  // every shard is asked anyway
    entry.pending = true;
    entry.replaced.insert(shard);
    asked.push_back(life);
  }
  return asked;
}

void EndedLives::OnCutBegun() {
  for (auto& [life, entry] : lives_) entry.in_cut = entry.known && !entry.pending;
}

void EndedLives::OnCutWhole() {
  std::erase_if(lives_, [](const auto& entry) { return entry.second.in_cut && !entry.second.pending; });
  replaced_.clear();
}

std::vector<MemberKey> EndedLives::Pending() const {
  std::vector<MemberKey> pending;
  for (const auto& [life, entry] : lives_) {
    if (entry.pending) pending.push_back(life);
  }
  return pending;
}

bool EndedLives::IsPending(MemberKey life) const {
  const auto found = lives_.find(life);
  return found != lives_.end() && found->second.pending;
}

bool EndedLives::IsKnown(MemberKey life) const {
  const auto found = lives_.find(life);
  return found != lives_.end() && found->second.known;
}

bool EndedLives::IsInCut(MemberKey life) const {
  const auto found = lives_.find(life);
  return found != lives_.end() && found->second.in_cut;
}

std::optional<EndedLives::Span> EndedLives::SpanOf(MemberKey life) const {
  const auto found = lives_.find(life);
  if (found == lives_.end() || !found->second.known) return std::nullopt;
  return Span{found->second.first, found->second.settled};
}

std::map<MemberKey, Iteration> EndedLives::SettledBelow() const {
  std::map<MemberKey, Iteration> settled;
  for (const auto& [life, entry] : lives_) settled[life] = entry.settled;
  return settled;
}

void EndedLives::AddTo(wire::pb::Roster& roster) const {
  for (const MemberKey life : Pending()) {
    wire::pb::Life& ended = *roster.add_ended();
    ended.set_worker(life.worker.value());
    ended.set_incarnation(life.incarnation.value());
  }
}

void EndedLives::Take(ShardId shard, std::span<const wire::pb::Held* const> held) {
  for (auto& [life, entry] : lives_) {
    std::vector<wire::pb::Held> answer;
    for (const wire::pb::Held* one : held) {
      const MemberKey of{WorkerId(one->worker()), Incarnation(one->incarnation())};
      if (of == life) answer.push_back(*one);
    }
    // A shard without blocks, or one that was asked before the life ended, says nothing.
    if (entry.pending && !answer.empty()) entry.held[shard] = std::move(answer);
  }
}

EndedLives::Settled EndedLives::Settle(MemberKey life) {
  LW_CHECK(IsPending(life), "worker {} incarnation {}", life.worker.value(), life.incarnation.value());
  Life& entry = lives_.at(life);
  HeldPushes held;
  for (const auto& [shard, answer] : entry.held) {
    if (entry.known && !entry.replaced.contains(shard)) continue;
    for (const wire::pb::Held& one : answer) held.Add(one);
  }
  Settled settled;
  settled.again = entry.known;
  settled.top = entry.known ? entry.settled - 1 : std::max(held.Highest(life), entry.settled - 1);
  settled.lacking = held.Of(life, entry.first, settled.top);
  entry.settled = settled.top + 1;
  entry.known = true;
  entry.pending = false;
  entry.replaced.clear();
  entry.held.clear();
  return settled;
}

void EndedLives::AddTo(wire::pb::LoggedJob& job) const {
  for (const ShardId shard : replaced_) job.add_replaced_shards(shard.value());
  for (const auto& [life, entry] : lives_) {
    wire::pb::LoggedEnd& end = *job.add_ended();
    end.set_worker(life.worker.value());
    end.set_incarnation(life.incarnation.value());
    end.set_first(entry.first.value());
    end.set_settled(entry.settled.value());
    end.set_pending(entry.pending);
    end.set_known(entry.known);
    for (const ShardId shard : entry.replaced) end.add_replaced(shard.value());
  }
}

void EndedLives::Apply(const wire::pb::LoggedJob& job) {
  lives_.clear();
  replaced_.clear();
  for (const std::uint32_t shard : job.replaced_shards()) replaced_.insert(ShardId(shard));
  for (const wire::pb::LoggedEnd& end : job.ended()) {
    Life& life = lives_[{WorkerId(end.worker()), Incarnation(end.incarnation())}];
    life.first = Iteration(end.first());
    life.settled = Iteration(end.settled());
    life.pending = end.pending();
    life.known = end.known();
    for (const std::uint32_t shard : end.replaced()) life.replaced.insert(ShardId(shard));
  }
}

}  // namespace leeway
