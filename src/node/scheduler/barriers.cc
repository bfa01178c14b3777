#include "node/scheduler/barriers.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {

Status Barriers::Arrive(WorkerId worker, const std::string& name, std::uint64_t round) {
  if (name.size() > kNameBytesMax) {
    return InvalidArgument("barrier name of {} bytes, wanted at most {}", name.size(), kNameBytesMax);
  }
  if (!barriers_.contains(name) && barriers_.size() >= kNamesMax) {
    return ResourceExhausted("barrier \"{}\": {} names are in use, no more may be (use a name again)", name,
                             kNamesMax);
  }
  barriers_[name].arrived[round].insert(worker);
  return Status::Ok();
}

std::vector<Barriers::Release> Barriers::Released(std::span<const WorkerId> live) {
  std::vector<Release> released;
  for (auto& named : barriers_) {
    // (clang 14 cannot capture structured bindings.)
    const std::string& name = named.first;
    Barrier& barrier = named.second;
    std::erase_if(barrier.arrived, [&](const auto& entry) {
      const std::uint64_t round = entry.first;
      const std::set<WorkerId>& arrived = entry.second;
      const bool all = std::ranges::all_of(live, [&](WorkerId worker) { return arrived.contains(worker); });
      if (!all && round > barrier.over) return false;
      barrier.over = std::max(barrier.over, round);
      for (const WorkerId worker : arrived) released.push_back({worker, name, round});
      return true;
    });
  }
  return released;
}

}  // namespace leeway
