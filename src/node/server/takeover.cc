#include "node/server/takeover.h"

#include <algorithm>

namespace leeway {

void Takeover::Note(BlockId block, MemberKey from) {
  if (const auto found = heard_.find(block); found != heard_.end()) found->second.insert(from);
}

std::span<const MemberState> Takeover::Known(const Block& block, std::span<const MemberState> members,
                                             const Roster& roster) {
  if (!heard_.contains(block.id())) return members;  // every block but one that was taken over
  known_.clear();
  for (const MemberState& member : members) {
    const bool joins = std::ranges::count(roster.joining(), member.key) > 0;
    if (!joins || block.HasMember(member.key)) known_.push_back(member);
  }
  return known_;
}

bool Takeover::IsAwaited(const Roster& roster, MemberKey who) {
  return std::ranges::any_of(roster.members(),
                             [&](const MemberState& m) { return m.key == who && !m.gone; }) &&
         std::ranges::count(roster.joining(), who) == 0;
}

bool Takeover::IsSettled(const Roster& roster) {
  if (lack_ && !heard_.at(lack_->block).contains(lack_->member) && IsAwaited(roster, lack_->member))
    return false;
  for (const MemberState& member : roster.members()) {
    if (member.gone || std::ranges::count(roster.joining(), member.key) > 0) continue;
    for (const auto& [block, heard] : heard_) {
      if (heard.contains(member.key)) continue;
      lack_ = {block, member.key};
      return false;
    }
  }
  Clear();
  return true;
}

}  // namespace leeway
