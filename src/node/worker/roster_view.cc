#include "node/worker/roster_view.h"

#include <algorithm>

namespace leeway {

bool RosterView::Take(const wire::pb::Roster& roster, WorkerId worker, Incarnation incarnation) {
  if (Epoch(roster.epoch()) < epoch_) return false;
  epoch_ = Epoch(roster.epoch());
  gathered_ = roster.gathered();
  knows_self_ = is_replaced_ = false;
  present_.clear();
  for (const wire::pb::Member& member : roster.members()) {
    if (!member.gone()) present_.push_back(member.worker());
    if (member.worker() != worker.value()) continue;
    if (member.incarnation() > incarnation.value()) is_replaced_ = true;
    if (member.incarnation() != incarnation.value()) continue;
    self_ = member;
    knows_self_ = true;
  }
  std::ranges::sort(present_);
  shards_.assign(roster.shards().begin(), roster.shards().end());
  std::ranges::sort(shards_, {}, [](const wire::pb::Shard& shard) { return shard.shard(); });
  return true;
}

}  // namespace leeway
