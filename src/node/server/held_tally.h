// HeldTally: adds up what the blocks of a shard hold of lives of workers, by life and clock.
//
// The scheduler compares the tallies of all shards: it learns where the next life of a rank begins, which
// batches of a dead worker are in the model, and how many pushes only some of the blocks have.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "block/block_events.h"
#include "google/protobuf/repeated_field.h"
#include "leeway/ids.h"
#include "node/server/block_store.h"
#include "wire/control.pb.h"

namespace leeway {

class HeldTally {
 public:
  // `own_clock`: the table, if it has a clock of its own.
  void Add(MemberKey life, std::optional<TableId> own_clock, const HeldLife& held);
  // Adds what every block holds of this life.
  void Add(const BlockStore& blocks, MemberKey life);
  void FillInto(google::protobuf::RepeatedPtrField<wire::pb::Held>& out) const;

 private:
  std::map<std::tuple<MemberKey, std::optional<TableId>>, wire::pb::Held> tallies_;
};

}  // namespace leeway
