// Sessions: which connection speaks for which life of which worker. One connection per life, the newest.
#pragma once

#include <map>

#include "block/block.h"
#include "block/rank_table.h"
#include "leeway/transport.h"
#include "node/connection_table.h"

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
  [[nodiscard]] std::vector<ConnectionId> All() const { return members_.Ids(); }
  [[nodiscard]] std::size_t size() const { return members_.size(); }

 private:
  struct Life {
    Incarnation incarnation;
    ConnectionId id;
  };
  ConnectionTable<MemberKey> members_;
  RankTable<Life> newest_;                     // of the lives that are connected
  std::map<MemberKey, ConnectionId> earlier_;  // older lives that are connected too, until they learn of it
};

}  // namespace leeway
