// Network: what the nodes of one simulated world are connected by. SimNetwork carries bytes and breaks in
// every way that a test can think of; FlowNetwork carries whole messages and keeps time.
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
  // Of one node on `host`, with its own clock. Gone before the network is.
  [[nodiscard]] virtual std::unique_ptr<Transport> MakeTransport(HostId host, const Clock& clock) = 0;
};

}  // namespace leeway::sim
