// SimTransport: the Transport of one simulated node, a thin view of the world's network.
#pragma once

#include <optional>
#include <string>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "sim/sim_network.h"

namespace leeway::sim {

class SimTransport final : public Transport {
 public:
  // Borrows `network` and `clock`, the node's own. Nodes on one host share its card.
  SimTransport(SimNetwork& network, HostId host, const Clock& clock)
      : network_(network), host_(host), clock_(clock) {}
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
            std::span<const Pinned> payload, const FrameOrder& order) override {
    network_.Send(id, kind, body, payload, order);
  }
  void SetLimits(ConnectionId id, const FrameLimits& limits) override { network_.SetLimits(id, limits); }
  void Close(ConnectionId id) override { network_.Close(id); }
  void CloseAfterSend(ConnectionId id) override { network_.CloseAfterSend(id); }
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const override { return network_.QueuedBytes(id); }
  [[nodiscard]] TimePoint LastReceived(ConnectionId id) const override {
    const std::optional<Duration> silent = network_.SilentFor(id);
    return silent ? clock_.Now() - *silent : TimePoint::min();
  }
  [[nodiscard]] std::string_view Carrier(ConnectionId) const override { return "sim"; }
  [[nodiscard]] std::string_view Host() const override { return ""; }

 private:
  SimNetwork& network_;
  const HostId host_;
  const Clock& clock_;
};

}  // namespace leeway::sim
