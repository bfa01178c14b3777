#include "scenario/machines.h"

#include <algorithm>

#include "base/check.h"

namespace leeway::scenario {

double Machines::WorkOf(std::uint32_t rank) const {
  return FactorOf({Disturbance::What::kWork, {.is_server = false, .index = rank}});
}

void Machines::Begin(const Disturbance& disturbance, const Member& member) {
  LW_CHECK(disturbance.what != Disturbance::What::kKill);
  if (disturbance.what == Disturbance::What::kCut) return network_.Cut(HostOf(member));
  const Slowed slowed = SlowedBy(disturbance, member);
  factors_[slowed].push_back(disturbance.slower);
  Tell(slowed);
}

void Machines::End(const Disturbance& disturbance, const Member& member) {
  if (disturbance.what == Disturbance::What::kCut) return network_.Mend(HostOf(member));
  const Slowed slowed = SlowedBy(disturbance, member);
  std::vector<double>& factors = factors_[slowed];
  const auto found = std::ranges::find(factors, disturbance.slower);
  LW_CHECK(found != factors.end());
  factors.erase(found);
  Tell(slowed);
}

// Hosts: the scheduler's, then the servers', then the workers'.
sim::HostId Machines::HostOf(const Member& member) const {
  return sim::HostId(1 + member.index + (member.is_server ? 0 : scenario_.job.servers));
}

Machines::Slowed Machines::SlowedBy(const Disturbance& disturbance, const Member& member) const {
  const bool has_partner = scenario_.together && member.index < scenario_.job.servers;
  if (disturbance.what == Disturbance::What::kLink && has_partner)
    return {Disturbance::What::kLink, {.is_server = true, .index = member.index}};
  return {disturbance.what, member};
}

double Machines::FactorOf(const Slowed& slowed) const {
  const auto found = factors_.find(slowed);
  if (found == factors_.end()) return 1;
  double product = 1;  // computed anew, so that it is exactly 1 when all are over
  for (const double factor : found->second) product *= factor;
  return product;
}

void Machines::Tell(const Slowed& slowed) {
  const auto& [what, member] = slowed;
  if (what == Disturbance::What::kLink) {
    network_.SlowLink(HostOf(member), FactorOf(slowed));
  } else if (member.is_server) {
    network_.SlowNode(HostOf(member), FactorOf(slowed));
  }
}

}  // namespace leeway::scenario
