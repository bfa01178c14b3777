// Two simulated Envs on two hosts of a virtual network: one of bytes, and one of whole messages.
#include <optional>

#include "sim/flow/flow_network.h"
#include "sim/sim_env.h"
#include "sim/sim_network.h"
#include "transport_world.h"

namespace leeway::contract {
namespace {

// Says nothing and hears nothing; its bytes are its own.
class SimRawPeer final : public RawPeer, private TransportEvents {
 public:
  SimRawPeer(sim::SimNetwork& network, sim::HostId host, const std::string& address)
      : network_(network), id_(network.Connect(host, this, address, *this)) {}
  ~SimRawPeer() override { network_.CloseAfterSend(id_); }
  void Write(std::span<const std::byte> bytes) override { network_.SendRaw(id_, bytes); }

 private:
  void OnAccepted(ConnectionId, const std::string&) override {}
  void OnConnected(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Landing{};
  }
  void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override {}
  void OnClosed(ConnectionId, const Status&) override {}

  sim::SimNetwork& network_;
  const ConnectionId id_;
};

// Two Envs on two hosts of the network that it is given.
class VirtualWorld : public TransportWorld {
 public:
  Env& server() override { return server_->env(); }
  Env& client() override { return client_->env(); }
  std::string ListenAddress() override { return "10.0.0.1:0"; }
  std::string DeadAddress() override { return "10.0.0.9:9"; }

  bool RunUntil(const std::function<bool()>& done) override {
    const Duration limit = queue_.now() + std::chrono::seconds(20);
    while (!done()) {
      if (queue_.next() > limit || !queue_.RunOne()) return false;
    }
    return true;
  }

  void RunFor(Duration time) override {
    bool over = false;
    queue_.After(time, [&] { over = true; });
    while (!over) queue_.RunOne();
  }

 protected:
  void Connect(sim::Network& network) {
    server_.emplace(queue_, network, network.AddHost(), server_disk_, ring_, "server", 1);
    client_host_ = network.AddHost();
    client_.emplace(queue_, network, client_host_, client_disk_, ring_, "client", 2);
  }
  // Before the network goes.
  void Disconnect() {
    client_.reset();
    server_.reset();
  }

  sim::EventQueue queue_;
  sim::HostId client_host_;

 private:
  sim::LogRing ring_{queue_};
  sim::Disk server_disk_{{}, 1};
  sim::Disk client_disk_{{}, 2};
  std::optional<sim::SimEnv> server_, client_;
};

class SimWorld final : public VirtualWorld {
 public:
  SimWorld() { Connect(network_); }
  ~SimWorld() override { Disconnect(); }
  std::unique_ptr<RawPeer> ConnectRaw(const std::string& address) override {
    return std::make_unique<SimRawPeer>(network_, client_host_, address);
  }

 private:
  sim::TraceHash trace_;
  sim::SimNetwork network_{queue_, {}, 1, trace_};
};

class FlowWorld final : public VirtualWorld {
 public:
  FlowWorld() { Connect(network_); }
  ~FlowWorld() override { Disconnect(); }
  [[nodiscard]] bool CutsFrames() const override { return false; }
  std::unique_ptr<RawPeer> ConnectRaw(const std::string&) override { return nullptr; }

 private:
  sim::FlowNetwork network_{queue_, {}};
};

}  // namespace

std::unique_ptr<TransportWorld> MakeSimWorld() { return std::make_unique<SimWorld>(); }
std::unique_ptr<TransportWorld> MakeFlowWorld() { return std::make_unique<FlowWorld>(); }

}  // namespace leeway::contract
