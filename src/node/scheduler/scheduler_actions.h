// SchedulerActions: what a part of the scheduler may ask for: frames to members, and epochs that the shards
// acknowledge. JobPeers implements it; tests of parts use a fake.
#pragma once

#include <google/protobuf/message_lite.h>

#include <functional>

#include "leeway/ids.h"
#include "leeway/transport.h"
#include "wire/kind.h"

namespace leeway {

class SchedulerActions {
 public:
  using Message = google::protobuf::MessageLite;
  virtual ~SchedulerActions() = default;

  // A peer that is gone gets nothing.
  virtual void Send(ConnectionId to, wire::Kind kind, const Message& message) = 0;
  // Every connected shard, by its id.
  virtual void SendToShards(wire::Kind kind, const Message& message) = 0;
  // Every connected member.
  virtual void SendToMembers(wire::Kind kind, const Message& for_shards, const Message& for_workers) = 0;

  [[nodiscard]] virtual Epoch epoch() const = 0;
  // Begins the epoch of a change that the caller sends to the shards at once.
  [[nodiscard]] virtual Epoch NextEpoch() = 0;
  // Runs `then` once every shard has `epoch` in force, at once if so now. Drops it when the connection
  // `whose` ends.
  virtual void WhenAcked(Epoch epoch, ConnectionId whose, std::function<void()> then) = 0;
};

}  // namespace leeway
