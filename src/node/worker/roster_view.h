// RosterView: the newest membership that the scheduler told this worker, and where the shards are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

class RosterView {
 public:
  // False if it is older than what is known.
  bool Take(const wire::pb::Roster& roster);

  [[nodiscard]] Epoch epoch() const { return Epoch(roster_.epoch()); }
  [[nodiscard]] bool gathered() const { return roster_.gathered(); }
  [[nodiscard]] bool AllGone() const;
  // Ranks that still count.
  [[nodiscard]] std::vector<std::uint32_t> Present() const;
  // Null when the roster does not know this life.
  [[nodiscard]] const wire::pb::Member* Find(WorkerId worker, Incarnation incarnation) const;
  // This worker lives on in a later incarnation.
  [[nodiscard]] bool IsReplaced(WorkerId worker, Incarnation incarnation) const;
  [[nodiscard]] const std::vector<wire::pb::Shard>& shards() const { return shards_; }

 private:
  wire::pb::Roster roster_;
  std::vector<wire::pb::Shard> shards_;  // by their dense ids
};

}  // namespace leeway
