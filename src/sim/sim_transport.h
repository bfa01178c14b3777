// SimTransport: the Transport of one simulated node, a thin view of the world's network.
#pragma once

#include <string>

#include "leeway/transport.h"
#include "sim/sim_network.h"

namespace leeway::sim {

class SimTransport final : public Transport {
 public:
  // Borrows `network`. Nodes on one host share its card.
  SimTransport(SimNetwork& network, HostId host) : network_(network), host_(host) {}
  ~SimTransport() override { network_.Forget(this); }
  SimTransport(const SimTransport&) = delete;
  SimTransport& operator=(const SimTransport&) = delete;

  Result<std::string> Listen(const std::string& address, TransportEvents& events) override {
    return network_.Listen(host_, this, address, events);
  }
  ConnectionId Connect(const std::string& address, TransportEvents& events) override {
    return network_.Connect(host_, this, address, events);
  }
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload) override {
    network_.Send(id, kind, body, payload);
  }
  void SetLimits(ConnectionId id, const FrameLimits& limits) override { network_.SetLimits(id, limits); }
  void Close(ConnectionId id) override { network_.Close(id); }
  void CloseAfterSend(ConnectionId id) override { network_.CloseAfterSend(id); }
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const override { return network_.QueuedBytes(id); }

 private:
  SimNetwork& network_;
  const HostId host_;
};

}  // namespace leeway::sim
