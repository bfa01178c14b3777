#include "block/waiting_pulls.h"

#include <algorithm>

namespace leeway {

void WaitingPulls::Block(const PullEvent& pull) {
  Drop(pull.from.worker);
  pulls_[pull.from.worker] = pull;
  blocked_.insert(pull.from.worker);
}

bool WaitingPulls::Delay(const PullEvent& pull) {
  const WorkerId worker = pull.from.worker;
  Drop(worker);
  pulls_[worker] = pull;
  delayed_.insert({pull.progress, worker});
  const auto [last, first_time] = last_delayed_.try_emplace(worker, pull.progress);
  if (!first_time && pull.progress <= last->second) return false;
  last->second = pull.progress;
  return true;
}

void WaitingPulls::Drop(WorkerId worker) {
  const auto found = pulls_.find(worker);
  if (found == pulls_.end()) return;
  blocked_.erase(worker);
  delayed_.erase({found->second.progress, worker});
  pulls_.erase(found);
}

std::optional<PullEvent> WaitingPulls::Take(MemberKey life) {
  const auto found = pulls_.find(life.worker);
  if (found == pulls_.end() || found->second.from != life) return std::nullopt;
  const PullEvent pull = found->second;
  Drop(life.worker);
  return pull;
}

std::optional<PullEvent> WaitingPulls::TakeDelayedBelow(Iteration v_train) {
  if (delayed_.empty() || delayed_.begin()->first >= v_train) return std::nullopt;
  const PullEvent pull = pulls_.at(delayed_.begin()->second);
  Drop(pull.from.worker);
  return pull;
}

std::vector<PullEvent> WaitingPulls::TakeBlocked() {
  std::vector<PullEvent> taken;
  for (const WorkerId worker : std::set<WorkerId>(std::move(blocked_))) {
    taken.push_back(pulls_.at(worker));
    pulls_.erase(worker);
  }
  blocked_.clear();
  return taken;
}

std::vector<PullEvent> WaitingPulls::List() const {
  std::vector<PullEvent> list;
  for (const auto& [worker, pull] : pulls_) list.push_back(pull);
  std::ranges::sort(list, {}, [](const PullEvent& p) { return p.from; });
  return list;
}

}  // namespace leeway
