// Takeover: blocks that this shard took over from a process that died, until every member has said where it
// goes on with them.
//
// Before that, such a block knows only its checkpoint. It would count a joining worker from an iteration that
// the others have left behind. So the shard does not tell it of joining workers until then.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "block/block.h"
#include "leeway/ids.h"
#include "node/server/roster.h"

namespace leeway {

class Takeover {
 public:
  void Begin(BlockId block) { heard_[block]; }
  // A member has said something to this block, perhaps under another term.
  void Hear(const Block& block, Term term, MemberKey from) {
    if (!heard_.empty() && term == block.term()) Note(block.id(), from);
  }
  // Whether every block has heard from every member that has a place. The takeover ends then. The node asks
  // with every frame while a worker waits, so this looks first at the member that was missing last time.
  [[nodiscard]] bool IsSettled(const Roster& roster);
  // The `members` that this block may know of. A block that is not settled may know members that have their
  // place, and joining members that its checkpoint counts already. Valid until the next call.
  [[nodiscard]] std::span<const MemberState> Known(const Block& block, std::span<const MemberState> members,
                                                   const Roster& roster);
  [[nodiscard]] bool empty() const { return heard_.empty(); }
  void Clear() {
    heard_.clear();
    lack_.reset();
  }

 private:
  void Note(BlockId block, MemberKey from);
  [[nodiscard]] static bool IsAwaited(const Roster& roster, MemberKey who);
  struct Lack {
    BlockId block;
    MemberKey member;
  };

  std::map<BlockId, std::set<MemberKey>> heard_;
  std::optional<Lack> lack_;  // a block and a member that it had not heard from at the last look
  std::vector<MemberState> known_;
};

}  // namespace leeway
