// EpochAcks: the epoch that each shard has in force, and callbacks that wait until all shards have one.
//
// An acknowledgement covers all frames before it: a shard takes the scheduler's frames in order.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "leeway/ids.h"
#include "leeway/transport.h"

namespace leeway {

class EpochAcks {
 public:
  explicit EpochAcks(std::size_t shards) : acked_(shards) {}

  // Another process has this shard: it has acknowledged nothing.
  void Reset(ShardId shard) { acked_[shard.index()] = Epoch{}; }
  // Runs the callbacks that waited for it.
  void Ack(ShardId shard, Epoch epoch);
  // Runs `then` once every shard has `epoch` in force, at once if so now.
  void When(Epoch epoch, ConnectionId whose, std::function<void()> then);
  // Drops callbacks of this connection.
  void Forget(ConnectionId whose);
  [[nodiscard]] Epoch acked_by_all() const;
  // The shards that have not acknowledged it.
  [[nodiscard]] std::vector<ShardId> Missing(Epoch epoch) const;

 private:
  struct Waiting {
    Epoch epoch;
    ConnectionId whose;
    std::function<void()> then;
  };
  std::vector<Epoch> acked_;  // by shard
  std::vector<Waiting> waiting_;
};

}  // namespace leeway
