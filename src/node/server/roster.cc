#include "node/server/roster.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::size_t kUnknownLivesMax = 256;

}  // namespace

bool Roster::Take(const wire::pb::Roster& roster) {
  if (Epoch(roster.epoch()) < epoch_) return false;
  epoch_ = Epoch(roster.epoch());
  members_.clear();
  own_clock_members_.clear();
  joining_.clear();
  dead_.clear();
  ended_.clear();
  newest_ = {};
  fences_ = 0;
  for (const wire::pb::Member& member : roster.members()) {
    const MemberKey key{WorkerId(member.worker()), Incarnation(member.incarnation())};
    members_.push_back({key, Iteration(member.first()), member.gone(), member.finished()});
    own_clock_members_.push_back({key, Iteration(0), member.gone(), member.finished()});
    if (member.joining()) joining_.push_back(key);
    if (member.dead()) dead_.insert(key);
    fences_ += key.incarnation.value() + (member.dead() ? 1 : 0);
    Incarnation& newest = newest_[key.worker];
    newest = std::max(newest, key.incarnation);
  }
  for (const wire::pb::Life& life : roster.ended())
    ended_.push_back({WorkerId(life.worker()), Incarnation(life.incarnation())});
  return true;
}

Result<MemberKey> Roster::Admit(const wire::pb::Hello& hello, std::size_t connected) const {
  if (hello.role() != wire::pb::ROLE_WORKER) {
    return InvalidArgument("a shard takes workers only: got role {}", static_cast<int>(hello.role()));
  }
  if (hello.rank() < 0 || hello.rank() >= kNoWorker.value() || hello.incarnation() == 0) {
    return Protocol("hello of worker {} incarnation {}, wanted both as the scheduler gave them", hello.rank(),
                    hello.incarnation());
  }
  const MemberKey who{WorkerId(static_cast<std::uint32_t>(hello.rank())), Incarnation(hello.incarnation())};
  LW_RETURN_IF_ERROR(CheckLife(who));
  // The roster knows as many lives as the job has workers. Other lives may have heard of an epoch before this
  // shard. Each takes memory, so the shard admits only some of them until their roster comes.
  const Incarnation* const newest = newest_.Find(who.worker);
  const bool known = newest != nullptr && *newest == who.incarnation;
  if (!known && connected >= members_.size() + kUnknownLivesMax) {
    return Unavailable(
        "worker {} incarnation {} is not in this shard's roster of epoch {}, and {} connections of "
        "workers are open, wanted at most {}",
        who.worker.value(), who.incarnation.value(), epoch_.value(), connected,
        members_.size() + kUnknownLivesMax);
  }
  return who;
}

Status Roster::CheckLife(MemberKey who) const {
  if (dead_.contains(who)) {
    return Fenced("worker {} incarnation {} was declared dead at epoch {} or before", who.worker.value(),
                  who.incarnation.value(), epoch_.value());
  }
  const Incarnation* const newest = newest_.Find(who.worker);
  if (newest != nullptr && who.incarnation < *newest) {
    return Fenced("worker {} incarnation {} was replaced by incarnation {}", who.worker.value(),
                  who.incarnation.value(), newest->value());
  }
  return Status::Ok();
}

}  // namespace leeway
