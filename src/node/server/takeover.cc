#include "node/server/takeover.h"

#include <algorithm>

namespace leeway {

void Takeover::Note(BlockId block, MemberKey from) {
  if (const auto found = heard_.find(block); found != heard_.end()) found->second.insert(from);
}

std::span<const MemberState> Takeover::Known(BlockId block, std::span<const MemberState> members,
                                             const Roster& roster) {
  if (!heard_.contains(block)) return members;  // every block, all the time, but after a takeover
  known_.clear();
  for (const MemberState& member : members) {
    if (std::ranges::count(roster.joining(), member.key) == 0) known_.push_back(member);
  }
  return known_;
}

bool Takeover::IsSettled(const Roster& roster) {
  for (const MemberState& member : roster.members()) {
    if (member.gone || std::ranges::count(roster.joining(), member.key) > 0) continue;
    for (const auto& [block, heard] : heard_) {
      if (!heard.contains(member.key)) return false;
    }
  }
  Clear();
  return true;
}

}  // namespace leeway
