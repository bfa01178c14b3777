// FinalValues: the last pull of a worker, of all its tables, after every member has left.
//
// Thread rule: the node's.
#pragma once

#include <cstddef>
#include <functional>

#include "leeway/ids.h"
#include "node/worker/own_pulls.h"
#include "node/worker/shard_ports.h"
#include "node/worker/table_set.h"

namespace leeway {

class FinalValues {
 public:
  // Pulls all tables. `shown` is called when an own-clock table has its values. REQUIRES: not asked.
  void Pull(const TableSet& tables, Iteration iteration, TimePoint now, ShardPorts& ports, OwnPulls& own,
            std::function<void()> shown);
  [[nodiscard]] bool asked() const { return progress_ != kIterationMax; }
  // All values are here.
  [[nodiscard]] bool Have(const TableSet& tables) const;

 private:
  Iteration progress_ = kIterationMax;
  std::size_t left_ = 0;  // own-clock tables whose final values are not here
};

}  // namespace leeway
