// The load of hosts, by hand: cards of 1 byte per nanosecond.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flow/flow_network.h"
#include "wire/frame.h"

namespace leeway::sim {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kPayload = 10'000;
constexpr auto kMessage =
    static_cast<Duration::rep>(kPayload + wire::kHeaderBytes);  // bytes, and nanoseconds

// One node that takes all that comes.
class LoadedNode final : public TransportEvents {
 public:
  LoadedNode(FlowNetwork& network, EventQueue& queue) : host(network.AddHost()), clock_(queue) {
    transport = network.MakeTransport(host, clock_);
  }
  void OnAccepted(ConnectionId, const std::string&) override {}
  void OnConnected(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead& head, std::span<const std::byte>) override {
    room_.resize(head.payload_bytes);
    Landing landing;
    landing.places.emplace_back(room_);
    return landing;
  }
  void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override { ++frames; }
  void OnClosed(ConnectionId, const Status&) override {}

  void Send(ConnectionId to) const {
    const auto bytes = std::make_shared<std::vector<std::byte>>(kPayload);
    const Pinned payload{*bytes, bytes};
    transport->Send(to, 1, {}, {&payload, 1});
  }

  const HostId host;
  std::unique_ptr<Transport> transport;
  int frames = 0;

 private:
  struct NoOffset final : Clock {
    explicit NoOffset(EventQueue& its_queue) : queue(its_queue) {}
    [[nodiscard]] TimePoint Now() const override { return TimePoint(queue.now()); }
    EventQueue& queue;
  };
  NoOffset clock_;
  std::vector<std::byte> room_;
};

class FlowLoadTest : public ::testing::Test {
 protected:
  FlowLoadTest() {
    FlowOptions options;
    options.host_model = [](HostId host) {
      HostModel model;
      model.bytes_per_second = 1e9;
      if (host.index() == 0) model.cost.per_message = nanoseconds(700);
      return model;
    };
    network = std::make_unique<FlowNetwork>(queue, options);
    for (std::unique_ptr<LoadedNode>* node : {&server, &first, &second})
      *node = std::make_unique<LoadedNode>(*network, queue);
    const Result<std::string> address = server->transport->Listen("server:1", *server);
    EXPECT_TRUE(address.ok());
    for (const LoadedNode* node : {first.get(), second.get()})
      to_server.push_back(node->transport->Connect(*address, const_cast<LoadedNode&>(*node)));
    RunAll();
    FrameLimits limits;
    limits.payload_bytes_max = kPayload;
    for (std::uint64_t slot = 0; slot < 2; ++slot)
      server->transport->SetLimits(MakeConnectionId(2 * slot + 2, slot), limits);
    network->CountLoadAnew();
  }
  void RunAll() {
    while (queue.RunOne()) {
    }
  }

  EventQueue queue;
  std::unique_ptr<FlowNetwork> network;
  std::unique_ptr<LoadedNode> server, first, second;
  std::vector<ConnectionId> to_server;
};

TEST_F(FlowLoadTest, AMessageBehindAnotherWaitsAsLongAsThatOneTakes) {
  first->Send(to_server[0]);
  first->Send(to_server[0]);
  RunAll();
  ASSERT_EQ(server->frames, 2);
  const HostLoad load = network->LoadOf(server->host);
  EXPECT_EQ(load.in.bytes, 2.0 * kMessage);
  EXPECT_EQ(load.in.busy, Duration(2 * kMessage));
  EXPECT_EQ(load.in.waited_max, Duration(kMessage));
  EXPECT_DOUBLE_EQ(load.in.waited_byte_s, static_cast<double>(kMessage) * kMessage * 1e-9);
  EXPECT_EQ(load.out.bytes, 0);
  EXPECT_EQ(load.worked, Duration(2 * 700));
  EXPECT_EQ(network->LoadOf(first->host).out.bytes, 2.0 * kMessage);
}

TEST_F(FlowLoadTest, TwoSendersShareTheReceiversCard) {
  first->Send(to_server[0]);
  second->Send(to_server[1]);
  RunAll();
  ASSERT_EQ(server->frames, 2);
  const HostLoad load = network->LoadOf(server->host);
  EXPECT_EQ(load.in.busy, Duration(2 * kMessage));
  EXPECT_EQ(load.in.waited_max, Duration(kMessage)) << "both take twice as long as alone";
  EXPECT_DOUBLE_EQ(load.in.waited_byte_s, 2.0 * static_cast<double>(kMessage) * kMessage * 1e-9);
  EXPECT_EQ(network->LoadOf(second->host).out.busy, Duration(kMessage));
}

TEST_F(FlowLoadTest, WorkCountsOnceItIsDone) {
  for (const ConnectionId to : {to_server[0], to_server[0]}) first->Send(to);
  second->Send(to_server[1]);
  Duration worked{0}, looked_at = queue.now();
  while (queue.RunOne()) {
    const Duration before = std::exchange(worked, network->LoadOf(server->host).worked);
    EXPECT_LE(worked - before, queue.now() - looked_at) << "more than time has passed";
    looked_at = queue.now();
  }
  EXPECT_EQ(worked, Duration(3 * 700));
}

TEST_F(FlowLoadTest, TheCountBeginsAnew) {
  first->Send(to_server[0]);
  RunAll();
  network->CountLoadAnew();
  const HostLoad load = network->LoadOf(server->host);
  EXPECT_EQ(load.in.bytes + load.in.waited_byte_s, 0);
  EXPECT_EQ(load.in.busy + load.in.waited_max + load.worked, Duration(0));
}

}  // namespace
}  // namespace leeway::sim
