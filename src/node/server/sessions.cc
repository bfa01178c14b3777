#include "node/server/sessions.h"

#include <iterator>
#include <utility>

namespace leeway {

ConnectionId Sessions::Add(ConnectionId id, MemberKey who) {
  ConnectionId older;
  Life* const newest = newest_.Find(who.worker);
  if (newest == nullptr) {
    newest_[who.worker] = {who.incarnation, id};
  } else if (newest->incarnation == who.incarnation) {
    older = std::exchange(newest->id, id);
  } else if (newest->incarnation < who.incarnation) {
    earlier_[{who.worker, newest->incarnation}] = newest->id;
    *newest = {who.incarnation, id};
  } else {
    older = std::exchange(earlier_[who], id);
  }
  members_.Erase(older);
  members_[id] = who;
  return older;
}

void Sessions::Remove(ConnectionId id) {
  const MemberKey* const found = members_.Find(id);
  if (found == nullptr) return;
  const MemberKey who = *found;
  members_.Erase(id);
  if (earlier_.erase(who) > 0) return;
  newest_.Erase(who.worker);
  // The newest life that is left takes its place.
  const auto above = earlier_.upper_bound(who);
  if (above == earlier_.begin()) return;
  const auto next = std::prev(above);
  if (next->first.worker != who.worker) return;
  newest_[who.worker] = {next->first.incarnation, next->second};
  earlier_.erase(next);
}

const MemberKey* Sessions::Find(ConnectionId id) const { return members_.Find(id); }

ConnectionId Sessions::Of(MemberKey who) const {
  const Life* const newest = newest_.Find(who.worker);
  if (newest == nullptr) return {};
  if (newest->incarnation == who.incarnation) return newest->id;
  const auto found = earlier_.find(who);
  return found == earlier_.end() ? ConnectionId{} : found->second;
}

}  // namespace leeway
