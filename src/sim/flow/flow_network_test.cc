#include "sim/flow/flow_network.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/sim_env.h"

namespace leeway::sim {
namespace {

// A node that counts its frames, and notes after how many it was asked what they look at.
class AskedNode final : public TransportEvents {
 public:
  void OnAccepted(ConnectionId, const std::string&) override {}
  void OnConnected(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Landing();
  }
  void OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override { ++frames; }
  void OnClosed(ConnectionId, const Status&) override {}
  void AddFootprint(ConnectionId, Footprint& footprint) const override {
    asked_after.push_back(frames);
    footprint.AddObject(*this);
  }

  int frames = 0;
  mutable std::vector<int> asked_after;
};

TEST(FlowNetworkTest, AsksWhatFramesLookAtNowAndThenAndLessAndLess) {
  EventQueue queue;
  FlowNetwork network(queue, {});
  const SimClock clock(queue, Duration::zero());
  const std::unique_ptr<Transport> server = network.MakeTransport(network.AddHost(), clock);
  const std::unique_ptr<Transport> client = network.MakeTransport(network.AddHost(), clock);
  AskedNode server_node, client_node;
  const Result<std::string> address = server->Listen("10.0.0.1:0", server_node);
  ASSERT_TRUE(address.ok());
  const ConnectionId id = client->Connect(*address, client_node);
  for (int i = 0; i < 40; ++i) client->Send(id, 1, {}, {});
  while (queue.RunOne()) {
  }
  EXPECT_EQ(server_node.frames, 40);
  EXPECT_EQ(server_node.asked_after, (std::vector{4, 8, 16, 32}));
  EXPECT_TRUE(client_node.asked_after.empty()) << "it got nothing";
}

}  // namespace
}  // namespace leeway::sim
