// BlockMembers: which members of the job each block of a shard counts.
//
// Keeps the roster, and the takeover of blocks from a process that died. Such a block hears of joining
// members only when all others have said how far they are, or a given time has passed. Thread rule: the
// node's.
#pragma once

#include <functional>

#include "block/block.h"
#include "leeway/env.h"
#include "node/server/block_store.h"
#include "node/server/roster.h"
#include "node/server/takeover.h"
#include "wire/control.pb.h"

namespace leeway {

class BlockMembers {
 public:
  // Borrows all. `told_all` is called when the time of a takeover has passed and all blocks were told.
  BlockMembers(Env& env, const BlockStore& blocks, Duration takeover_max, std::function<void()> told_all);
  ~BlockMembers();
  BlockMembers(const BlockMembers&) = delete;
  BlockMembers& operator=(const BlockMembers&) = delete;

  [[nodiscard]] const Roster& roster() const { return roster_; }
  // Takes a roster and tells no block yet; false if it is older than the one held (nothing changes then).
  bool Take(const wire::pb::Roster& roster) { return roster_.Take(roster); }
  // Tells a block which members it counts.
  void Tell(Block& block);
  void TellAll();
  // Another process had this block: it waits for no member without end.
  void TakeOver(BlockId block);
  // Whether some block is being taken over, and Hear has an effect.
  [[nodiscard]] bool taking_over() const { return !takeover_.empty(); }
  // A member says how far it is with this block, perhaps under another term.
  void Hear(const Block& block, Term term, MemberKey from) { takeover_.Hear(block, term, from); }
  // Whether no joining member has to wait for a takeover. Tells all blocks when the last one has ended.
  [[nodiscard]] bool Settle();
  void Stop();

 private:
  Env& env_;
  const BlockStore& blocks_;
  const Duration takeover_max_;
  const std::function<void()> told_all_;
  Roster roster_;
  Takeover takeover_;
  TimerId timer_;
};

}  // namespace leeway
