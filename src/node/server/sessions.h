// Sessions: which connection speaks for which life of which worker. One connection per life, the newest.
#pragma once

#include <map>

#include "block/block.h"
#include "leeway/transport.h"

namespace leeway {

class Sessions {
 public:
  // Returns the older connection of the same life, which is no session any more; 0 if there was none.
  ConnectionId Add(ConnectionId id, MemberKey who);
  void Remove(ConnectionId id);
  // Null if this connection is no session.
  [[nodiscard]] const MemberKey* Find(ConnectionId id) const;
  // 0 if this life is not connected.
  [[nodiscard]] ConnectionId Of(MemberKey who) const;
  [[nodiscard]] const std::map<MemberKey, ConnectionId>& all() const { return connections_; }

 private:
  std::map<ConnectionId, MemberKey> members_;
  std::map<MemberKey, ConnectionId> connections_;
};

}  // namespace leeway
