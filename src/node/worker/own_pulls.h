// OwnPulls: pulls of whole own-clock tables into memory of the user's, one after the other for each table.
//
// Thread rule: the node's.
#pragma once

#include <span>

#include "leeway/env.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/shard_ports.h"

namespace leeway {

class OwnPulls {
 public:
  // Borrows both for its life.
  OwnPulls(const Clock& clock, DueCallbacks& due) : clock_(clock), due_(due) {}

  // Pulls the values after `progress`. REQUIRES: `values` has the table's size.
  void Begin(WorkerTable& table, std::span<float> values, Iteration progress, Done done, ShardPorts& ports);
  // An answer for a block of the table is here. Without values: the block never had some.
  void OnAnswer(WorkerTable& table, bool has_values, ShardPorts& ports);

 private:
  const Clock& clock_;
  DueCallbacks& due_;
};

}  // namespace leeway
