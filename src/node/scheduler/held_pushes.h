// HeldPushes: the pushes that the blocks of the whole job hold of each life, put together from the tallies of
// its shards (src/node/server/held_tally.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "block/block_events.h"
#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

class HeldPushes {
 public:
  void Add(const wire::pb::Held& held);
  [[nodiscard]] std::set<MemberKey> Lives() const;
  // The highest iteration that a block of the job's clock holds of this life; -1: no block holds any.
  [[nodiscard]] Iteration Highest(MemberKey life) const;
  // How many blocks of the job's clock know the life.
  [[nodiscard]] std::uint64_t BlocksOf(MemberKey life) const;

  // Pushes that are in some blocks and not in others, or in none any more.
  struct Lacking {
    std::uint64_t lost = 0;  // of blocks that were taken back to a checkpoint
    std::uint64_t torn = 0;  // of the others: they never came
  };
  // The pushes that blocks lack of a life that began with iteration `first` and pushed up to `top` under the
  // job's clock. In a table with a clock of its own, the block that is ahead says how far the life came.
  [[nodiscard]] Lacking Of(MemberKey life, Iteration first, Iteration top) const;

 private:
  using Clock = std::tuple<MemberKey, std::optional<TableId>>;
  std::map<Clock, wire::pb::Held> held_;
};

}  // namespace leeway
