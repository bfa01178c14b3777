#include "node/server/sessions.h"

#include <utility>

namespace leeway {

ConnectionId Sessions::Add(ConnectionId id, MemberKey who) {
  const ConnectionId older = std::exchange(connections_[who.worker][who.incarnation], id);
  members_.erase(older);
  members_[id] = who;
  return older;
}

void Sessions::Remove(ConnectionId id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  const MemberKey who = found->second;
  std::map<Incarnation, ConnectionId>& lives = connections_[who.worker];
  lives.erase(who.incarnation);
  if (lives.empty()) connections_.Erase(who.worker);
  members_.erase(found);
}

const MemberKey* Sessions::Find(ConnectionId id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : &found->second;
}

ConnectionId Sessions::Of(MemberKey who) const {
  const auto* const lives = connections_.Find(who.worker);
  if (lives == nullptr) return {};
  const auto found = lives->find(who.incarnation);
  return found == lives->end() ? ConnectionId{} : found->second;
}

}  // namespace leeway
