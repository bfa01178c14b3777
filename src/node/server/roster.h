// Roster: the members of the job, as the scheduler last told this shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "block/block.h"
#include "block/rank_table.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "wire/control.pb.h"

namespace leeway {

class Roster {
 public:
  // Takes a roster from the scheduler; false if it is older than the one held (nothing changes then).
  bool Take(const wire::pb::Roster& roster);
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  // The members for blocks of the job's clock, and for blocks with a clock of their own. There a member
  // begins at 0, or where the block is, whatever iteration the job is in.
  [[nodiscard]] std::span<const MemberState> members() const { return members_; }
  [[nodiscard]] std::span<const MemberState> own_clock_members() const { return own_clock_members_; }
  // Members that came after the job had begun, and wait to hear where they begin.
  [[nodiscard]] std::span<const MemberKey> joining() const { return joining_; }
  // Lives that ended without leaving. The scheduler asks what the blocks hold of them.
  [[nodiscard]] std::span<const MemberKey> ended() const { return ended_; }
  // The life that says this hello, or the error to refuse it with. `connected`: how many lives are.
  [[nodiscard]] Result<MemberKey> Admit(const wire::pb::Hello& hello, std::size_t connected) const;
  // kFenced for a life that was declared dead or that a newer incarnation replaced. A life that the roster
  // does not know yet may pass: its worker may have heard of an epoch before this shard.
  [[nodiscard]] Status CheckLife(MemberKey who) const;
  // Changes whenever a roster may have fenced a life.
  [[nodiscard]] std::uint64_t fences() const { return fences_; }

 private:
  Epoch epoch_;
  std::uint64_t fences_ = 0;  // the count of the dead and the sum of all incarnations
  std::vector<MemberState> members_, own_clock_members_;
  std::vector<MemberKey> joining_, ended_;
  std::set<MemberKey> dead_;
  RankTable<Incarnation> newest_;
};

}  // namespace leeway
