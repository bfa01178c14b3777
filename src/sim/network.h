// Network: connects the nodes of one simulated world. SimNetwork carries bytes and fails in every way that a
// test can ask for; FlowNetwork carries whole messages and models their times.
#pragma once

#include <memory>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "sim/link_model.h"

namespace leeway::sim {

class Network {
 public:
  virtual ~Network() = default;
  [[nodiscard]] virtual HostId AddHost() = 0;
  // Makes the transport of one node on `host`, with its own clock. REQUIRES: the network outlives it.
  [[nodiscard]] virtual std::unique_ptr<Transport> MakeTransport(HostId host, const Clock& clock) = 0;
};

}  // namespace leeway::sim
