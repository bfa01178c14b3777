#include "node/scheduler/barriers.h"

#include <algorithm>
#include <utility>

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
    barrier.rounds[0].arrived[call.worker] = {call.round};
    return Status::Ok();
  }
  const auto ahead = call.began ? static_cast<std::int64_t>(barrier.over + 1 - call.round) : 0;
  const auto [entry, is_new] = barrier.ahead.try_emplace(call.worker, ahead);
  if (is_new) changed_.insert(call.name);
  const std::int64_t its = entry->second;
  Round& round = barrier.rounds[call.round + static_cast<std::uint64_t>(its)];
  round.arrived[call.worker] = {call.round, call.iteration};
  return Status::Ok();
}

void Barriers::Forget(WorkerId worker) {
  for (auto& named : barriers_) {
    if (named.second.ahead.erase(worker) > 0) changed_.insert(named.first);
    for (auto& round : named.second.rounds) round.second.arrived.erase(worker);
    std::erase_if(named.second.rounds, [](const auto& round) { return round.second.arrived.empty(); });
  }
}

Iteration Barriers::Round::Lowest() const {
  Iteration lowest = kIterationMax;
  for (const auto& [worker, arrival] : arrived) lowest = std::min(lowest, arrival.iteration);
  return lowest;
}

bool Barriers::Has(const Round& round, const Member& member) {
  return round.arrived.contains(member.worker) || (member.began && round.Lowest() <= *member.began);
}

bool Barriers::IsComplete(const Round& round, std::span<const Member> members) {
  return std::ranges::all_of(members, [&](const Member& member) { return Has(round, member); });
}

std::vector<WorkerId> Barriers::Missing(const std::string& name, WorkerId who,
                                        std::span<const Member> members) const {
  std::vector<WorkerId> missing;
  const auto found = barriers_.find(name);
  if (found == barriers_.end()) return missing;
  for (const auto& [number, round] : found->second.rounds) {
    if (!round.arrived.contains(who)) continue;
    for (const Member& member : members) {
      if (!Has(round, member)) missing.push_back(member.worker);
    }
    break;
  }
  return missing;
}

std::vector<Barriers::Release> Barriers::Released(std::span<const Member> members) {
  std::vector<Release> released;
  for (auto& named : barriers_) {
    Barrier& barrier = named.second;
    std::erase_if(barrier.rounds, [&](const auto& entry) {
      const std::uint64_t number = entry.first;
      const Round& round = entry.second;
      if (number > barrier.over && !IsComplete(round, members)) return false;
      if (number > barrier.over) changed_.insert(named.first);
      if (number > barrier.over) passed_ = std::max(passed_, round.Lowest());
      barrier.over = std::max(barrier.over, number);
      for (const auto& arrived : round.arrived)
        released.push_back({arrived.first, named.first, arrived.second.round});
      return true;
    });
  }
  return released;
}

void Barriers::Fill(const std::string& name, const Barrier& barrier, wire::pb::LoggedBarrier& out) const {
  out.set_passed(passed_.value());
  out.set_name(name);
  out.set_over(barrier.over);
  for (const auto& [worker, ahead] : barrier.ahead) (*out.mutable_ahead())[worker.value()] = ahead;
}

bool Barriers::AddChanges(wire::pb::LogRecord& record) {
  for (const std::string& name : changed_) Fill(name, barriers_.at(name), *record.add_barriers());
  return !std::exchange(changed_, {}).empty();
}

void Barriers::AddAll(wire::pb::LogRecord& record) const {
  for (const auto& [name, barrier] : barriers_) Fill(name, barrier, *record.add_barriers());
}

Status Barriers::Apply(const wire::pb::LogRecord& record) {
  for (const wire::pb::LoggedBarrier& from : record.barriers()) {
    Barrier& barrier = barriers_[from.name()];
    barrier = {};
    barrier.over = from.over();
    passed_ = std::max(passed_, Iteration(from.passed()));
    for (const auto& [worker, ahead] : from.ahead()) barrier.ahead[WorkerId(worker)] = ahead;
  }
  if (barriers_.size() > kNamesMax) {
    return ResourceExhausted("{} barriers, wanted at most {}", barriers_.size(), kNamesMax);
  }
  return Status::Ok();
}

std::vector<Barriers::Member> BarrierMembers(const Membership& members) {
  std::vector<Barriers::Member> counted;
  for (const WorkerSeat& seat : members.workers()) {
    if (seat.counted()) counted.push_back({seat.rank, seat.Began()});
  }
  return counted;
}

}  // namespace leeway
