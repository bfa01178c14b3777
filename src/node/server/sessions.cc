#include "node/server/sessions.h"

#include <utility>

namespace leeway {

ConnectionId Sessions::Add(ConnectionId id, MemberKey who) {
  const ConnectionId older = std::exchange(connections_[who], id);
  members_.erase(older);
  members_[id] = who;
  return older;
}

void Sessions::Remove(ConnectionId id) {
  const auto found = members_.find(id);
  if (found == members_.end()) return;
  connections_.erase(found->second);
  members_.erase(found);
}

const MemberKey* Sessions::Find(ConnectionId id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : &found->second;
}

ConnectionId Sessions::Of(MemberKey who) const {
  const auto found = connections_.find(who);
  return found == connections_.end() ? ConnectionId{} : found->second;
}

}  // namespace leeway
