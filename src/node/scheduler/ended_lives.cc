#include "node/scheduler/ended_lives.h"

#include <algorithm>

#include "base/check.h"

namespace leeway {

void EndedLives::Add(MemberKey life, Iteration first, Iteration settled) {
  lives_.try_emplace(life, Life{first, settled, {}});
}

void EndedLives::AddTo(wire::pb::Roster& roster) const {
  for (const auto& [life, entry] : lives_) {
    wire::pb::Life& ended = *roster.add_ended();
    ended.set_worker(life.worker.value());
    ended.set_incarnation(life.incarnation.value());
  }
}

std::vector<MemberKey> EndedLives::all() const {
  std::vector<MemberKey> lives;
  for (const auto& [life, entry] : lives_) lives.push_back(life);
  return lives;
}

void EndedLives::AddTo(wire::pb::LoggedJob& job) const {
  for (const auto& [life, entry] : lives_) {
    wire::pb::LoggedEnd& end = *job.add_ended();
    end.set_worker(life.worker.value());
    end.set_incarnation(life.incarnation.value());
    end.set_first(entry.first.value());
    end.set_settled(entry.settled.value());
  }
}

void EndedLives::Apply(const wire::pb::LoggedJob& job) {
  lives_.clear();
  for (const wire::pb::LoggedEnd& end : job.ended()) {
    Add({WorkerId(end.worker()), Incarnation(end.incarnation())}, Iteration(end.first()),
        Iteration(end.settled()));
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
    if (!answer.empty()) entry.held[shard] = std::move(answer);
  }
}

EndedLives::Settled EndedLives::Settle(MemberKey life) {
  const auto found = lives_.find(life);
  LW_CHECK(found != lives_.end(), "worker {} incarnation {}", life.worker.value(), life.incarnation.value());
  HeldPushes held;
  for (const auto& [shard, answer] : found->second.held) {
    for (const wire::pb::Held& one : answer) held.Add(one);
  }
  const Iteration first = found->second.first;
  Settled settled;
  settled.top = std::max(held.Highest(life), found->second.settled - 1);
  settled.lacking = held.Of(life, first, settled.top);
  lives_.erase(found);
  return settled;
}

}  // namespace leeway
