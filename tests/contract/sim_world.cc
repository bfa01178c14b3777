// Two simulated Envs on two hosts of one virtual network.
#include "sim/sim_env.h"
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
  void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing) override {}
  void OnClosed(ConnectionId, const Status&) override {}

  sim::SimNetwork& network_;
  const ConnectionId id_;
};

class SimWorld final : public TransportWorld {
 public:
  Env& server() override { return server_.env(); }
  Env& client() override { return client_.env(); }
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

  std::unique_ptr<RawPeer> ConnectRaw(const std::string& address) override {
    return std::make_unique<SimRawPeer>(network_, client_host_, address);
  }

 private:
  sim::EventQueue queue_;
  sim::TraceHash trace_;
  sim::SimNetwork network_{queue_, {}, 1, trace_};
  sim::LogRing ring_{queue_};
  sim::HostId server_host_ = network_.AddHost();
  sim::HostId client_host_ = network_.AddHost();
  sim::Disk server_disk_{{}, 1};
  sim::Disk client_disk_{{}, 2};
  sim::SimEnv server_{queue_, network_, server_host_, server_disk_, ring_, "server", 1};
  sim::SimEnv client_{queue_, network_, client_host_, client_disk_, ring_, "client", 2};
};

}  // namespace

std::unique_ptr<TransportWorld> MakeSimWorld() { return std::make_unique<SimWorld>(); }

}  // namespace leeway::contract
