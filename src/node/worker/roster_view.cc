#include "node/worker/roster_view.h"

#include <algorithm>

namespace leeway {

bool RosterView::Take(const wire::pb::Roster& roster) {
  if (roster.epoch() < roster_.epoch()) return false;
  roster_ = roster;
  shards_.assign(roster.shards().begin(), roster.shards().end());
  std::sort(shards_.begin(), shards_.end(),
            [](const wire::pb::Shard& a, const wire::pb::Shard& b) { return a.shard() < b.shard(); });
  return true;
}

bool RosterView::AllGone() const { return gathered() && Present().empty(); }

std::vector<std::uint32_t> RosterView::Present() const {
  std::vector<std::uint32_t> ranks;
  for (const wire::pb::Member& member : roster_.members()) {
    if (!member.gone()) ranks.push_back(member.worker());
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

const wire::pb::Member* RosterView::Find(WorkerId worker, Incarnation incarnation) const {
  for (const wire::pb::Member& member : roster_.members()) {
    if (member.worker() == worker.value() && member.incarnation() == incarnation.value()) return &member;
  }
  return nullptr;
}

bool RosterView::IsReplaced(WorkerId worker, Incarnation incarnation) const {
  return std::any_of(roster_.members().begin(), roster_.members().end(), [&](const wire::pb::Member& member) {
    return member.worker() == worker.value() && member.incarnation() > incarnation.value();
  });
}

}  // namespace leeway
