#include "node/scheduler/barriers.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {

Status Barriers::Arrive(const Call& call) {
  if (!barriers_.contains(call.name)) {
    if (call.name.size() > kNameBytesMax) {
      return InvalidArgument("its name has {} bytes, wanted at most {}", call.name.size(), kNameBytesMax);
    }
    if (barriers_.size() >= kNamesMax) {
      return ResourceExhausted("{} names are in use, which is the most there may be; use a name again",
                               kNamesMax);
    }
  }
  Barrier& barrier = barriers_[call.name];
  if (call.began && call.steps == 0) {
    // A round that is over: released at once.
    barrier.rounds[0].arrived[call.worker] = call.round;
    return Status::Ok();
  }
  const auto ahead = call.began ? static_cast<std::int64_t>(barrier.over + 1 - call.round) : 0;
  const std::int64_t its = barrier.ahead.try_emplace(call.worker, ahead).first->second;
  Round& round = barrier.rounds[call.round + static_cast<std::uint64_t>(its)];
  round.arrived[call.worker] = call.round;
  round.lowest = std::min(round.lowest, call.iteration);
  return Status::Ok();
}

void Barriers::Forget(WorkerId worker) {
  for (auto& named : barriers_) {
    named.second.ahead.erase(worker);
    for (auto& round : named.second.rounds) round.second.arrived.erase(worker);
    std::erase_if(named.second.rounds, [](const auto& round) { return round.second.arrived.empty(); });
  }
}

bool Barriers::IsComplete(const Round& round, std::span<const Member> members) {
  return std::ranges::all_of(members, [&](const Member& member) {
    return round.arrived.contains(member.worker) || (member.began && round.lowest <= *member.began);
  });
}

std::vector<Barriers::Release> Barriers::Released(std::span<const Member> members) {
  std::vector<Release> released;
  for (auto& named : barriers_) {
    Barrier& barrier = named.second;
    std::erase_if(barrier.rounds, [&](const auto& entry) {
      const std::uint64_t number = entry.first;
      const Round& round = entry.second;
      if (number > barrier.over && !IsComplete(round, members)) return false;
      barrier.over = std::max(barrier.over, number);
      for (const auto& arrived : round.arrived)
        released.push_back({arrived.first, named.first, arrived.second});
      return true;
    });
  }
  return released;
}

}  // namespace leeway
