// Machines: the machines of one simulated job. Disturbances slow their links and their work, and cut them
// off.
//
// Disturbances that overlap multiply. Thread rule: that of the network.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scenario/disturbance.h"
#include "sim/flow/flow_network.h"
#include "sim/flow/shared_cores.h"

namespace leeway::scenario {

class Machines {
 public:
  // Borrows all of them. With null `cores` every worker has a core of its own.
  Machines(const Scenario& scenario, sim::FlowNetwork& network, sim::SharedCores* cores)
      : scenario_(scenario), network_(network), cores_(cores) {}

  [[nodiscard]] sim::SharedCores* cores() const { return cores_; }
  // How many times as long as usual an iteration of this worker takes that begins now.
  [[nodiscard]] double WorkOf(std::uint32_t rank) const;

  // REQUIRES: the disturbance is no kill; End follows a Begin.
  void Begin(const Disturbance& disturbance, const Member& member);
  void End(const Disturbance& disturbance, const Member& member);

 private:
  using Slowed = std::pair<Disturbance::What, Member>;
  [[nodiscard]] sim::HostId HostOf(const Member& member) const;
  // A worker that shares a card stands for its partner.
  [[nodiscard]] Slowed SlowedBy(const Disturbance& disturbance, const Member& member) const;
  [[nodiscard]] double FactorOf(const Slowed& slowed) const;
  void Tell(const Slowed& slowed);

  const Scenario& scenario_;
  sim::FlowNetwork& network_;
  sim::SharedCores* const cores_;
  std::map<Slowed, std::vector<double>> factors_;  // of the disturbances under way
};

}  // namespace leeway::scenario
