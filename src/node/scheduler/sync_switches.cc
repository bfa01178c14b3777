#include "node/scheduler/sync_switches.h"

#include <utility>

namespace leeway {

std::uint64_t SyncSwitches::Add(Waiting waiting) {
  waiting_.emplace(++last_, std::move(waiting));
  return last_;
}

void SyncSwitches::Done(std::uint64_t number) {
  auto found = waiting_.extract(number);
  if (!found.empty()) found.mapped().reply(Status::Ok());
}

std::vector<SyncSwitches::Waiting> SyncSwitches::TakeExpired(TimePoint now) {
  std::vector<Waiting> expired;
  std::erase_if(waiting_, [&](auto& entry) {
    if (entry.second.until > now) return false;
    expired.push_back(std::move(entry.second));
    return true;
  });
  return expired;
}

void SyncSwitches::Forget(ConnectionId whose) {
  std::erase_if(waiting_, [whose](const auto& entry) { return entry.second.whose == whose; });
}

}  // namespace leeway
