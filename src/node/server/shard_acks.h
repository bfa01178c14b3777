// ShardAcks: what a shard still has to tell the scheduler about epochs: those that it acknowledges later, and
// the tables that it refused.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "node/server/block_store.h"
#include "node/server/roster.h"
#include "wire/control.pb.h"

namespace leeway {

class ShardAcks {
 public:
  // The next acknowledgement names this table.
  void Refuse(const BlockStore::Refused& refused) { refused_.push_back(refused); }
  // Keeps the highest epoch that cannot be acknowledged yet.
  void PutOff(std::uint64_t epoch);
  // Takes the epoch that was put off; 0 if all are acknowledged.
  [[nodiscard]] std::uint64_t TakePutOff() { return std::exchange(put_off_, 0); }
  // Says where the blocks count joining members from, what they hold of lives that ended, and which tables
  // were refused since the last one.
  [[nodiscard]] wire::pb::EpochAck Make(std::uint64_t epoch, const Roster& roster, const BlockStore& blocks);

 private:
  std::uint64_t put_off_ = 0;
  std::vector<BlockStore::Refused> refused_;
};

}  // namespace leeway
