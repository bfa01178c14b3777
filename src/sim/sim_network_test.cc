#include "sim/sim_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/sim_env.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::span<const std::byte> TextBytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string BytesText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A node that writes down what it is told.
class Recorder : public TransportEvents {
 public:
  void OnAccepted(ConnectionId id, const std::string&) override {
    accepted.push_back(id);
    log.emplace_back("accepted");
  }
  void OnConnected(ConnectionId) override { log.emplace_back("connected"); }
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead& head, std::span<const std::byte>) override {
    auto place = std::make_shared<std::vector<std::byte>>(head.payload_bytes);
    return Landing{{*place}, place};
  }
  void OnFrame(ConnectionId id, const FrameHead&, std::span<const std::byte> body,
               Landing&& landing) override {
    std::string text = BytesText(body);
    for (const std::span<std::byte> place : landing.places) text += "+" + BytesText(place);
    log.push_back(text);
    if (on_frame) on_frame(id);
  }
  void OnClosed(ConnectionId, const Status& why) override {
    log.emplace_back("closed");
    closed = why;
  }
  std::vector<ConnectionId> accepted;
  std::vector<std::string> log;
  std::function<void(ConnectionId)> on_frame;
  Status closed;
};

// A listener and a client on two hosts.
struct TwoHosts {
  explicit TwoHosts(std::uint64_t seed = 1) : network(queue, {}, seed, trace) {}

  void Listen() { address = *server.env().transport.Listen("10.0.0.1:0", server_node); }
  ConnectionId Connect() { return client.env().transport.Connect(address, client_node); }
  void Run() {
    while (queue.RunOne()) {
    }
  }
  void RunUntil(Duration when) {
    while (queue.next() <= when) queue.RunOne();
  }

  EventQueue queue;
  TraceHash trace;
  SimNetwork network;
  LogRing ring{queue};
  HostId server_host = network.AddHost();
  HostId client_host = network.AddHost();
  Recorder server_node, client_node;
  Disk disk{{}, 1};
  SimEnv server{queue, network, server_host, disk, ring, "server", 1};
  SimEnv client{queue, network, client_host, disk, ring, "client", 2};
  std::string address;
};

TEST(SimNetworkTest, FramesArriveWholeAndInOrderAlsoThoseQueuedBeforeTheConnectionIsUp) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  EXPECT_THAT(world.client_node.log, IsEmpty()) << "no event from inside a call";
  world.client.env().transport.SetLimits(id, {4096, 1 << 20});
  world.client.env().transport.Send(id, 1, TextBytes("early"), {});
  world.Run();
  ASSERT_EQ(world.server_node.accepted.size(), 1U);
  const std::string payload(30'000, 'p');
  const Pinned pinned{TextBytes(payload), nullptr};
  world.server.env().transport.Send(world.server_node.accepted[0], 2, TextBytes("big"), {&pinned, 1});
  world.server.env().transport.Send(world.server_node.accepted[0], 3, TextBytes("small"), {});
  world.Run();
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "early"));
  EXPECT_THAT(world.client_node.log, ElementsAre("connected", "big+" + payload, "small"));
}

TEST(SimNetworkTest, ConnectingWhereNobodyListensFails) {
  TwoHosts world;
  world.address = "10.0.0.1:9";
  (void)world.Connect();
  world.Run();
  EXPECT_THAT(world.client_node.log, ElementsAre("closed"));
  EXPECT_EQ(world.client_node.closed.code(), StatusCode::kUnavailable);
}

TEST(SimNetworkTest, TwoListenersCannotShareAnAddress) {
  TwoHosts world;
  world.Listen();
  EXPECT_EQ(world.client.env().transport.Listen(world.address, world.client_node).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(world.client.env().transport.Listen("nonsense", world.client_node).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(SimNetworkTest, TheOneThatClosesHearsNothingMoreAndTheOtherHearsOfItOnce) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.Run();
  world.client.env().transport.Close(id);
  world.server.env().transport.Send(world.server_node.accepted[0], 1, TextBytes("lost"), {});
  world.Run();
  EXPECT_THAT(world.client_node.log, ElementsAre("connected"));
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "closed"));
  world.server.env().transport.Send(world.server_node.accepted[0], 1, TextBytes("gone"), {});
  world.Run();
  EXPECT_EQ(world.server_node.log.size(), 2U);
}

TEST(SimNetworkTest, CloseAfterSendDeliversWhatWasQueued) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.Run();
  world.client.env().transport.Send(id, 1, TextBytes("last"), {});
  world.client.env().transport.CloseAfterSend(id);
  world.Run();
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "last", "closed"));
  EXPECT_THAT(world.client_node.log, ElementsAre("connected"));
}

TEST(SimNetworkTest, ClosingFromInsideAFrameStopsTheFramesBehindIt) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.Run();
  world.server_node.on_frame = [&](ConnectionId at) { world.server.env().transport.Close(at); };
  for (const char* word : {"a", "b", "c"}) world.client.env().transport.Send(id, 1, TextBytes(word), {});
  world.Run();
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "a"));
  EXPECT_THAT(world.client_node.log, ElementsAre("connected", "closed"));
}

TEST(SimNetworkTest, AFrameOverTheLimitClosesTheConnectionAtBothEnds) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.client.env().transport.Send(id, 1, TextBytes(std::string(5000, 'x')), {});
  world.Run();
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "closed"));
  EXPECT_EQ(world.server_node.closed.code(), StatusCode::kProtocol);
  EXPECT_THAT(world.client_node.log, ElementsAre("connected", "closed"));
}

TEST(SimNetworkTest, ACutTellsBothEndsOnceAndLosesASuffixThatMayStartInsideAFrame) {
  std::uint64_t inside = 0;
  std::map<std::size_t, int> arrived;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    TwoHosts world(seed);
    world.Listen();
    const ConnectionId id = world.Connect();
    world.Run();
    for (int i = 0; i < 5; ++i) world.client.env().transport.Send(id, 1, TextBytes("frame"), {});
    world.RunUntil(world.queue.now() + Duration(40'000));
    world.network.Cut(0);
    world.network.Cut(0);
    world.Run();
    EXPECT_EQ(world.network.counters().cuts, 1U);
    EXPECT_THAT(world.client_node.log, ElementsAre("connected", "closed"));
    ASSERT_GE(world.server_node.log.size(), 2U);
    EXPECT_EQ(world.server_node.log.back(), "closed");
    for (std::size_t i = 1; i + 1 < world.server_node.log.size(); ++i)
      EXPECT_EQ(world.server_node.log[i], "frame");
    arrived[world.server_node.log.size() - 2] += 1;
    inside += world.network.counters().cuts_inside_frame;
  }
  EXPECT_GT(inside, 20U);
  EXPECT_EQ(arrived.size(), 6U) << "any number of the five frames, from none to all";
}

TEST(SimNetworkTest, ABlockedDirectionStallsBytesAndLetsTheOtherDirectionPass) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.Run();
  const Duration heal = world.queue.now() + milliseconds(500);
  world.network.impairments().Stall(world.client_host, world.server_host, heal, FaultId(1));
  world.client.env().transport.Send(id, 1, TextBytes("up"), {});
  world.server.env().transport.Send(world.server_node.accepted[0], 1, TextBytes("down"), {});
  world.RunUntil(heal - Duration(1));
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted"));
  EXPECT_THAT(world.client_node.log, ElementsAre("connected", "down"));
  world.Run();
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "up"));
}

TEST(SimNetworkTest, ABlockedPathKeepsPinsOnceTheWindowIsFull) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.Run();
  world.server.env().transport.SetLimits(world.server_node.accepted[0], {4096, 1 << 20});
  world.network.impairments().Stall(world.client_host, world.server_host, world.queue.now() + seconds(1),
                                    FaultId(1));
  const std::string payload(500'000, 'p');
  auto pin = std::make_shared<int>(1);
  Pinned pinned{TextBytes(payload), pin};
  world.client.env().transport.Send(id, 1, {}, {&pinned, 1});
  pinned.pin.reset();
  world.RunUntil(world.queue.now() + milliseconds(900));
  EXPECT_EQ(pin.use_count(), 2);
  EXPECT_GT(world.client.env().transport.QueuedBytes(id), 400'000U);
  world.Run();
  EXPECT_EQ(pin.use_count(), 1);
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "+" + payload));
}

TEST(SimNetworkTest, RefusedConnectsFailAndLaterOnesPass) {
  TwoHosts world;
  world.Listen();
  world.network.impairments().Refuse(world.server_host, world.queue.now() + milliseconds(10), FaultId(1));
  (void)world.Connect();
  world.Run();
  EXPECT_THAT(world.client_node.log, ElementsAre("closed"));
  world.RunUntil(milliseconds(10));
  world.queue.At(milliseconds(10), [&] { (void)world.Connect(); });
  world.Run();
  EXPECT_THAT(world.client_node.log, ElementsAre("closed", "connected"));
}

TEST(SimNetworkTest, ASlowPathDelaysWhatLeavesMeanwhile) {
  TwoHosts world;
  world.Listen();
  const ConnectionId id = world.Connect();
  world.Run();
  const Duration sent = world.queue.now();
  world.network.impairments().Slow(world.client_host, world.server_host, milliseconds(50),
                                   sent + milliseconds(5), FaultId(1));
  world.client.env().transport.Send(id, 1, TextBytes("late"), {});
  world.RunUntil(sent + milliseconds(50));
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted"));
  world.Run();
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "late"));
}

TEST(SimNetworkTest, ANodeThatIsGoneLosesItsConnectionsAndItsAddress) {
  TwoHosts world;
  world.Listen();
  auto guest_node = std::make_unique<Recorder>();
  auto guest = std::make_unique<SimEnv>(world.queue, world.network, world.client_host, world.disk, world.ring,
                                        "guest", std::uint64_t{3});
  (void)guest->env().transport.Connect(world.address, *guest_node);
  bool fired = false;
  (void)guest->env().timers.After(milliseconds(1), [&] { fired = true; });
  world.RunUntil(Duration(500'000));
  guest.reset();
  guest_node.reset();
  world.Run();
  EXPECT_FALSE(fired);
  EXPECT_THAT(world.server_node.log, ElementsAre("accepted", "closed"));
}

TEST(SimNetworkTest, TheSameSeedGivesTheSameTraceAndAnotherSeedAnother) {
  const auto trace = [](std::uint64_t seed) {
    TwoHosts world(seed);
    world.Listen();
    const ConnectionId id = world.Connect();
    for (int i = 0; i < 20; ++i) world.client.env().transport.Send(id, 1, TextBytes("frame"), {});
    world.Run();
    return world.trace.value();
  };
  EXPECT_EQ(trace(1), trace(1));
  EXPECT_NE(trace(1), trace(2));
}

TEST(SimEnvTest, TimersFireInOrderOnAClockThatIsTheNodesOwn) {
  TwoHosts world;
  Env& env = world.client.env();
  EXPECT_NE(env.clock.Now(), world.server.env().clock.Now());
  const TimePoint start = env.clock.Now();
  std::vector<Duration> fired;
  (void)env.timers.After(milliseconds(2), [&] { fired.push_back(env.clock.Now() - start); });
  const TimerId cancelled = env.timers.After(milliseconds(1), [&] { fired.emplace_back(-1); });
  (void)env.timers.After(milliseconds(1), [&] { fired.push_back(env.clock.Now() - start); });
  env.timers.Cancel(cancelled);
  env.timers.Cancel(TimerId(0));
  EXPECT_THAT(fired, IsEmpty());
  world.Run();
  EXPECT_THAT(fired, ElementsAre(milliseconds(1), milliseconds(2)));
}

}  // namespace
}  // namespace leeway::sim
