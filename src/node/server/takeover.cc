#include "node/server/takeover.h"

#include <algorithm>

namespace leeway {

void Takeover::Note(BlockId block, MemberKey from) {
  if (const auto found = heard_.find(block); found != heard_.end()) found->second.insert(from);
}

std::vector<MemberState> Takeover::Known(BlockId block, std::span<const MemberState> members,
                                         const Roster& roster) const {
  const bool all = !heard_.contains(block);
  std::vector<MemberState> known;
  for (const MemberState& member : members) {
    if (all || std::ranges::count(roster.joining(), member.key) == 0) known.push_back(member);
  }
  return known;
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
