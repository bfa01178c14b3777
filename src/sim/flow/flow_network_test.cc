#include "sim/flow/flow_network.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/sim_env.h"
#include "wire/frame.h"
#include "wire/kind.h"

namespace leeway::sim {
namespace {

using namespace std::chrono_literals;

constexpr double kRate = 1e9;                         // bytes a second: a megabyte takes a millisecond
constexpr std::size_t kMegabyte = 1'000'000;          // on the wire, with the header
constexpr Duration kBegin = std::chrono::seconds(1);  // by then the connections are up

HostModel FastCard() {
  HostModel model;
  model.bytes_per_second = kRate;
  return model;
}

// A node that notes what it gets, and when.
class Node final : public TransportEvents {
 public:
  Node(EventQueue& queue, FlowNetwork& network, HostId host)
      : queue_(queue), clock_(queue, Duration(0)), transport(network.MakeTransport(host, clock_)) {}

  void OnAccepted(ConnectionId id, const std::string&) override {
    peers.push_back(id);
    transport->SetLimits(id, {.body_bytes_max = 1U << 30});
  }
  void OnConnected(ConnectionId) override { ++connected; }
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Landing{};
  }
  void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override {
    got.push_back(queue_.now() - kBegin);
  }
  void OnClosed(ConnectionId, const Status&) override { closed.push_back(queue_.now() - kBegin); }

 private:
  EventQueue& queue_;
  SimClock clock_;

 public:
  std::unique_ptr<Transport> transport;
  int connected = 0;
  std::vector<ConnectionId> peers;
  std::vector<Duration> got, closed;
};

// Host 0 listens; the others are connected to it.
class FlowNetworkTest : public ::testing::Test {
 protected:
  void Make(std::size_t hosts, FlowOptions options = {}) {
    options.latency = Duration(0);
    if (!options.host_model) options.host_model = [](HostId) { return FastCard(); };
    network_ = std::make_unique<FlowNetwork>(queue_, options);
    for (std::size_t i = 0; i < hosts; ++i) {
      nodes_.push_back(std::make_unique<Node>(queue_, *network_, network_->AddHost()));
    }
    address_ = *nodes_[0]->transport->Listen("10.0.0.1:0", *nodes_[0]);
    for (std::size_t i = 1; i < hosts; ++i) Connect(i);
    RunUntil(kBegin);
  }
  ~FlowNetworkTest() override { nodes_.clear(); }

  void Connect(std::size_t node) {
    ids_.resize(nodes_.size());
    ids_[node] = nodes_[node]->transport->Connect(address_, *nodes_[node]);
    nodes_[node]->transport->SetLimits(ids_[node], {.body_bytes_max = 1U << 30});
  }
  // Sends a message to host 0, or back from it.
  void Send(std::size_t from, std::size_t bytes = kMegabyte) {
    SendOn(*nodes_[from]->transport, ids_[from], bytes);
  }
  void SendBack(std::size_t to) { SendOn(*nodes_[0]->transport, nodes_[0]->peers[to - 1], kMegabyte); }
  static void SendOn(Transport& transport, ConnectionId id, std::size_t bytes) {
    const std::vector<std::byte> body(bytes - wire::kHeaderBytes);
    transport.Send(id, static_cast<std::uint8_t>(wire::Kind::kHello), body, {});
  }
  void At(Duration when, std::function<void()> run) { queue_.At(kBegin + when, std::move(run)); }
  void RunUntil(Duration end) {
    bool over = false;
    queue_.At(end, [&over] { over = true; });
    while (!over) (void)queue_.RunOne();
  }
  void RunFor(Duration time) { RunUntil(kBegin + time); }
  static void ExpectTimes(const std::vector<Duration>& got, const std::vector<Duration>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(static_cast<double>(got[i].count()), static_cast<double>(wanted[i].count()), 10.0) << i;
  }

  EventQueue queue_;
  std::unique_ptr<FlowNetwork> network_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::string address_;
  std::vector<ConnectionId> ids_;  // by node
};

// Host 2 is on the machine of host 1.
FlowOptions TwoOnOneCard() {
  FlowOptions options;
  options.host_model = [](HostId host) {
    HostModel model = FastCard();
    if (host == HostId(2)) model.card_of = HostId(1);
    return model;
  };
  return options;
}

TEST_F(FlowNetworkTest, HostsOfOneMachineShareBothDirectionsOfItsCard) {
  Make(4, TwoOnOneCard());
  network_->SlowLink(HostId(0), 0.01);
  Send(1);
  Send(2);
  Send(3);  // has a card of its own
  SendBack(1);
  SendBack(2);
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {1ms, 2ms, 2ms});
  ExpectTimes(nodes_[1]->got, {2ms});
  ExpectTimes(nodes_[2]->got, {2ms});
}

TEST_F(FlowNetworkTest, MessagesWithinAMachinePassNoCard) {
  FlowOptions options;
  options.host_model = [](HostId host) {
    HostModel model = FastCard();
    if (host == HostId(1)) model.card_of = HostId(0);
    return model;
  };
  Make(3, options);
  network_->Cut(HostId(0));
  Send(1);
  Send(2);
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {0ms});
}

TEST_F(FlowNetworkTest, AMessageUnderWayGoesOnAtTheNewRate) {
  Make(2);
  Send(1);
  At(500us, [&] { network_->SlowLink(HostId(1), 2); });
  At(2ms, [&] { Send(1, 1000); });  // a small one: 2 us
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {1500us, 2002us});
}

TEST_F(FlowNetworkTest, ARateThatRisesBringsMessagesEarlier) {
  Make(2);
  network_->SlowLink(HostId(1), 10);
  Send(1);
  At(5ms, [&] { network_->SlowLink(HostId(1), 1); });  // half is left
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {5500us});
}

TEST_F(FlowNetworkTest, ACostCountsForMessagesThatArriveAfterIt) {
  FlowOptions options;
  options.host_model = [](HostId host) {
    HostModel model = FastCard();
    if (host == HostId(0)) model.cost.per_message = 1ms;
    return model;
  };
  Make(2, options);
  network_->SlowNode(HostId(0), 10);
  Send(1);
  Send(1);
  At(1500us, [&] { network_->SlowNode(HostId(0), 1); });
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {11ms, 12ms});  // the second arrives at 2 ms and waits for the first
}

TEST_F(FlowNetworkTest, AMessageWaitsWhileItsCardIsCutAndKeepsItsProgress) {
  Make(3);
  Send(1);
  Send(2);  // each has half of the card of host 0
  At(1ms, [&] { network_->Cut(HostId(1)); });
  At(10ms, [&] { network_->Mend(HostId(1)); });
  RunFor(1s);
  // The second has the whole card from 1 ms on; half of the first is left at 10 ms.
  ExpectTimes(nodes_[0]->got, {1500us, 10500us});
  EXPECT_TRUE(nodes_[0]->closed.empty());
}

TEST_F(FlowNetworkTest, NothingPassesACutCardNotEvenTheNewsOfAnEnd) {
  Make(3);
  network_->Cut(HostId(1));
  Send(1);
  Send(1, 100);
  At(5ms, [&] { nodes_[1]->transport->Close(ids_[1]); });
  At(20ms, [&] { network_->Mend(HostId(1)); });
  RunFor(1s);
  EXPECT_TRUE(nodes_[0]->got.empty());
  ExpectTimes(nodes_[0]->closed, {20ms});
}

TEST_F(FlowNetworkTest, AConnectWaitsForTheEndOfACut) {
  Make(2);
  nodes_.push_back(std::make_unique<Node>(queue_, *network_, network_->AddHost()));
  network_->Cut(HostId(0));
  network_->Cut(HostId(2));
  Connect(2);
  At(5ms, [&] { network_->Mend(HostId(2)); });
  RunFor(7ms);
  EXPECT_EQ(nodes_[2]->connected, 0);
  network_->Mend(HostId(0));
  RunFor(8ms);
  EXPECT_EQ(nodes_[2]->connected, 1);
  EXPECT_EQ(nodes_[0]->peers.size(), 2U);
}

TEST_F(FlowNetworkTest, TwoCutsOfOneCardEndWithTheLater) {
  Make(2);
  network_->Cut(HostId(1));
  network_->Cut(HostId(1));
  Send(1);
  At(1ms, [&] { network_->Mend(HostId(1)); });
  At(4ms, [&] { network_->Mend(HostId(1)); });
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {5ms});
}

TEST_F(FlowNetworkTest, ANodeThatDiesLeavesTheCardsToTheOthers) {
  Make(3);
  Send(1);
  Send(2);
  At(1ms, [&] { nodes_[1]->transport.reset(); });
  RunFor(1s);
  ExpectTimes(nodes_[0]->got, {1500us});
  ExpectTimes(nodes_[0]->closed, {1ms});
}

TEST_F(FlowNetworkTest, AnotherNodeListensWhereOneHasDied) {
  Make(2);
  nodes_[0]->transport.reset();
  Connect(1);
  RunFor(1ms);
  EXPECT_EQ(nodes_[1]->closed.size(), 2U);  // the first connection, and the refused one
  nodes_[0] = std::make_unique<Node>(queue_, *network_, HostId(0));
  EXPECT_EQ(*nodes_[0]->transport->Listen(address_, *nodes_[0]), address_);
  Connect(1);
  RunFor(2ms);
  EXPECT_EQ(nodes_[1]->connected, 2);
}

TEST_F(FlowNetworkTest, ALongMessageIsNoSilence) {
  Make(2);
  network_->SlowLink(HostId(1), 1000);  // it takes a second
  Send(1);
  Node& to = *nodes_[0];
  RunFor(900ms);
  EXPECT_EQ(to.transport->LastReceived(to.peers[0]), TimePoint(kBegin + 900ms));
  network_->Cut(HostId(1));
  EXPECT_EQ(to.transport->LastReceived(to.peers[0]), TimePoint::min());
}

}  // namespace
}  // namespace leeway::sim
