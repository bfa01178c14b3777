// Roster: who is a member of the job, as this shard last heard it from the scheduler.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "block/block.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "wire/control.pb.h"

namespace leeway {

class Roster {
 public:
  // Takes a roster from the scheduler; false if it is older than the one held (nothing changes then).
  bool Take(const wire::pb::Roster& roster);
  [[nodiscard]] Epoch epoch() const { return epoch_; }
  [[nodiscard]] std::span<const MemberState> members() const { return members_; }
  // kFenced for a life that was declared dead or that a newer incarnation replaced. A life that the roster
  // does not know yet may pass: the worker heard of this epoch before we did.
  [[nodiscard]] Status CheckLife(MemberKey who) const;

 private:
  Epoch epoch_;
  std::vector<MemberState> members_;
  std::set<MemberKey> dead_;
  std::map<WorkerId, Incarnation> newest_;
};

}  // namespace leeway
