// RosterView: the part of the newest roster that a worker keeps: the members present, its own entry, and the
// shards. A process may hold a thousand workers with a thousand members each, so no more is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

class RosterView {
 public:
  // As this life of a worker sees it. False if the roster is older than the one before.
  bool Take(const wire::pb::Roster& roster, WorkerId worker, Incarnation incarnation);

  [[nodiscard]] Epoch epoch() const { return epoch_; }
  [[nodiscard]] bool gathered() const { return gathered_; }
  [[nodiscard]] bool AllGone() const { return gathered_ && present_.empty(); }
  // Ranks that still count, in their order.
  [[nodiscard]] const std::vector<std::uint32_t>& present() const { return present_; }
  // Null when the roster does not know this life.
  [[nodiscard]] const wire::pb::Member* self() const { return knows_self_ ? &self_ : nullptr; }
  // This worker lives on in a later incarnation.
  [[nodiscard]] bool is_replaced() const { return is_replaced_; }
  [[nodiscard]] const std::vector<wire::pb::Shard>& shards() const { return shards_; }

 private:
  Epoch epoch_;
  bool gathered_ = false;
  bool knows_self_ = false;
  bool is_replaced_ = false;
  wire::pb::Member self_;
  std::vector<std::uint32_t> present_;
  std::vector<wire::pb::Shard> shards_;  // by their dense ids
};

}  // namespace leeway
