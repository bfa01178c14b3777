// Takeover: blocks that this shard took over from a process that died, until every member has said where it
// goes on with them.
//
// Before that such a block knows only what the checkpoint knew, and would count a late worker from an
// iteration that the others have left behind: so it does not hear of late workers until then.
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
  // Every member that has a place has been heard of by every block; then there is nothing more to wait for.
  // Asked with every frame while somebody waits: it looks first at whom it lacked the last time.
  [[nodiscard]] bool IsSettled(const Roster& roster);
  // Of `members` those that this block may know of: for one that is not settled, those that have their place,
  // and those that joined before its checkpoint, which it counts already. Good until the next call.
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
  std::optional<Lack> lack_;  // one that was not heard of at the last look
  std::vector<MemberState> known_;
};

}  // namespace leeway
