// The faults of a SimNetwork.
#include <algorithm>

#include "sim/sim_network.h"

namespace leeway::sim {
namespace {

// The mean time after which an end learns that its connection was torn: mostly soon, sometimes so late that
// its peer has reconnected before.
constexpr Duration kLearnMean = std::chrono::milliseconds(1);
constexpr Duration kLearnLate = std::chrono::milliseconds(150);
constexpr double kLearnLateShare = 0.15;

}  // namespace

void SimNetwork::Cut(std::uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end() || found->second->torn || !found->second->Live()) return;
  const ConnectionRef connection = found->second;
  connection->torn = true;
  ++counters_.cuts;
  for (int side = 0; side < 2; ++side) {
    Pipe& out = connection->ends[side]->out;
    // Often all or none of the bytes in flight arrive; else the tear falls at any byte.
    const std::uint64_t flying = out.bytes_in_flight();
    const std::uint64_t keep = random_.Chance(0.7)   ? random_.Below(flying + 1)
                               : random_.Chance(0.5) ? flying
                                                     : 0;
    out.Tear(keep);
    const Duration learn = random_.Chance(kLearnLateShare) ? random_.Between(Duration::zero(), kLearnLate)
                                                           : random_.Exponential(kLearnMean);
    Signal(connection, side, Chunk::Kind::kReset, learn);
  }
}

std::vector<SimNetwork::LiveConnection> SimNetwork::Live() const {
  std::vector<LiveConnection> live;
  for (const auto& [number, connection] : connections_) {
    if (connection->Live() && !connection->torn) {
      live.push_back({number, {connection->ends[0]->host, connection->ends[1]->host}});
    }
  }
  return live;
}

void SimNetwork::Block(HostId from, HostId to, Duration until, FaultId fault) {
  Impairment& block = blocks_[{from, to}];
  if (until > block.until) block = {until, {}, fault, false};
}

void SimNetwork::Slow(HostId from, HostId to, Duration extra, Duration until, FaultId fault) {
  slow_[{from, to}] = {until, extra, fault, false};
}

void SimNetwork::Refuse(HostId host, Duration until, FaultId fault) {
  refusals_[host] = {until, {}, fault, false};
}

Duration SimNetwork::BlockedUntil(HostId from, HostId to) {
  const auto found = blocks_.find({from, to});
  if (found == blocks_.end() || found->second.until <= queue_.now()) return Duration::zero();
  Meet(found->second);
  return found->second.until;
}

Duration SimNetwork::ExtraDelay(HostId from, HostId to) {
  const auto found = slow_.find({from, to});
  if (found == slow_.end() || found->second.until <= queue_.now()) return Duration::zero();
  Meet(found->second);
  return found->second.extra;
}

void SimNetwork::Meet(Impairment& impairment) {
  if (std::exchange(impairment.met, true) || watcher_ == nullptr || impairment.fault == FaultId{}) return;
  watcher_->OnFaultMet(impairment.fault);
}

}  // namespace leeway::sim
