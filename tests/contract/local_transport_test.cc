// The behaviour of the local transport alone: shared memory, and the fallback where memory cannot be shared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leeway/arena.h"
#include "local_transport_world.h"
#include "transport/stream/socket.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

// Regions of shared memory that this process has mapped, its own and its peers'.
int MappedRegions() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:leeway") != std::string::npos ? 1 : 0;
  return count;
}

TEST_F(LocalTransportTest, ProcessesOfOneHostShareMemoryByThemselves) {
  Listen();
  Connect();
  ASSERT_EQ(other_->connected.size(), 1U);
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "local");
  EXPECT_EQ(server_->env().transport.Carrier(node_->accepted.at(0)), "local");
  EXPECT_EQ(client_->env().transport.Host(), server_->env().transport.Host());
  EXPECT_FALSE(client_->env().transport.Host().empty());
  EXPECT_EQ(log_.text, "");
}

TEST_F(LocalTransportTest, WhatLiesInTheArenaIsNotCopiedAndPinnedUntilItWasRead) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  constexpr std::size_t kBytes = 3 << 20;
  std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  std::memset(memory.get(), 7, kBytes);
  other_->Send(to_server_, 1, "b", {{{memory.get(), kBytes}, memory}});
  EXPECT_EQ(memory.use_count(), 2);
  // Written after the send and before the peer reads: it is the same memory.
  std::memset(memory.get(), 8, 4);
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  EXPECT_EQ(node_->frames[0].payload.substr(0, 5), "\x08\x08\x08\x08\x07");
  EXPECT_EQ(node_->read_in_place, 1U);
  EXPECT_TRUE(RunUntil([&] { return memory.use_count() == 1; })) << "without a word from the peer";
}

TEST_F(LocalTransportTest, WhatIsCopiedPastTheCacheIsTheSame) {
  Listen({.nontemporal_bytes_min = 0});
  Connect();
  constexpr std::size_t kBytes = (1 << 20) + 36;
  node_->places = {100, 4096, 65536 + 1};
  std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  std::string sent(kBytes, '\0');
  for (std::size_t i = 0; i < kBytes; ++i) sent[i] = static_cast<char>(i * 131 >> 3);
  std::memcpy(memory.get(), sent.data(), kBytes);
  other_->Send(to_server_, 1, "b", {{{memory.get(), kBytes}, memory}});
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  EXPECT_EQ(node_->read_in_place, 0U);
  EXPECT_TRUE(node_->frames[0].payload == sent);
}

TEST_F(LocalTransportTest, OnlyTcpIsThereWhenOneSideWantsIt) {
  Listen({.carrier = Carrier::kTcp});
  Connect();
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  Listen();
  Connect({.carrier = Carrier::kTcp});
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  Connect({.carrier = Carrier::kUds});
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "uds");
}

TEST_F(LocalTransportTest, OneThatSharesNothingIsReachedOverItsUnixSocket) {
  Listen({.carrier = Carrier::kUds});
  Connect();
  ASSERT_EQ(other_->connected.size(), 1U);
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "uds");
  EXPECT_EQ(server_->env().transport.Carrier(node_->accepted.at(0)), "uds");
  EXPECT_THAT(client_->env().transport.WhyNotShared(to_server_), HasSubstr("it shares no memory"));
  for (RealEnv* env : {client_.get(), server_.get()}) {
    const bool up = env == client_.get();
    constexpr std::size_t kBytes = 1 << 20;
    const std::shared_ptr<std::byte> memory = env->env().arena.Allocate(kBytes, Arena::Use::kSent);
    std::memset(memory.get(), 'x', kBytes);
    (up ? other_ : node_)
        ->Send(up ? to_server_ : node_->accepted.at(0), 1, "b", {{{memory.get(), kBytes}, memory}});
    TransportRecorder& receiver = up ? *node_ : *other_;
    ASSERT_TRUE(RunUntil([&] { return receiver.frames.size() == 1; }));
    EXPECT_EQ(receiver.frames[0].payload, std::string(kBytes, 'x'));
  }
  Connect({.carrier = Carrier::kLocal});
  ASSERT_EQ(other_->closed.size(), 1U) << "shared memory or nothing";
  EXPECT_THAT(other_->closed.begin()->second.message(), HasSubstr("it shares no memory"));
}

TEST_F(LocalTransportTest, WhoListensEverywhereIsFoundByAnyAddress) {
  for (const char* at : {"0.0.0.0:0", "[::]:0"}) {
    server_ = std::make_unique<RealEnv>(log_, StreamOptions{.allow_non_loopback = true});
    node_ = std::make_unique<TransportRecorder>(server_->env());
    const Result<std::string> address = node_->Listen(at);
    if (!address.ok()) GTEST_SKIP() << address.status().ToString();  // a system without IPv6
    address_ = "127.0.0.1" + address->substr(address->rfind(':'));
    Connect();
    EXPECT_EQ(client_->env().transport.Carrier(to_server_), "local") << at;
    other_.reset();
    client_.reset();
  }
}

TEST_F(LocalTransportTest, AUnixSocketThatIsTakenIsMissedByThoseThatNeedIt) {
  Listen({.carrier = Carrier::kTcp});
  const SocketAddress at = LocalAddress();
  node_.reset();
  server_.reset();
  const Socket taken(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(bind(taken.fd(), at.raw(), at.raw_bytes()), 0);
  Listen({}, address_);
  EXPECT_THAT(log_.text, HasSubstr("cannot listen at the Unix socket of " + address_));
  EXPECT_THAT(log_.text, HasSubstr("over TCP"));
  node_.reset();
  server_ = std::make_unique<RealEnv>(log_, StreamOptions{.carrier = Carrier::kLocal});
  node_ = std::make_unique<TransportRecorder>(server_->env());
  EXPECT_THAT(node_->Listen(address_).status().message(), HasSubstr("cannot listen at the Unix socket"));
}

TEST_F(LocalTransportTest, ALocalAddressNeedsNoPortAndHasANameThatNobodyCanGuess) {
  Listen({}, "local:");
  EXPECT_THAT(address_, ::testing::MatchesRegex("local:[0-9a-f]{32}"));
  const std::string first = address_;
  Connect();
  ASSERT_EQ(other_->connected.size(), 1U);
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "local");
  other_.reset();
  client_.reset();
  Connect({.carrier = Carrier::kUds});
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "uds");
  other_.reset();
  client_.reset();
  Listen({}, "local:");
  EXPECT_NE(address_, first);
}

TEST_F(LocalTransportTest, ALocalNameIsTakenOnceAndFreeWithItsProcess) {
  Listen({}, "local:");
  const std::string name = address_;
  RealEnv second(log_);
  TransportRecorder node(second.env());
  const Status taken = node.Listen(name).status();
  EXPECT_EQ(taken.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(taken.message(), HasSubstr("cannot listen at " + name + ": another process has this name"));
  node_.reset();
  server_.reset();
  EXPECT_TRUE(node.Listen(name).ok());
}

TEST_F(LocalTransportTest, LocalAddressesAndTcpDoNotGoTogether) {
  Listen({}, "local:");
  Connect({.carrier = Carrier::kTcp});
  ASSERT_EQ(other_->closed.size(), 1U);
  EXPECT_THAT(other_->closed.begin()->second.message(), HasSubstr("the transport is tcp"));
  RealEnv tcp(log_, StreamOptions{.carrier = Carrier::kTcp});
  TransportRecorder node(tcp.env());
  EXPECT_EQ(node.Listen("local:x").status().code(), StatusCode::kInvalidArgument);
}

TEST_F(LocalTransportTest, WrongAndDeadLocalNamesAreNamed) {
  Listen({}, "local:");
  const std::string dead = address_ + "-gone";
  for (const auto& [address, words] : {std::pair<std::string, std::string>{dead, "nobody listens there"},
                                       {"local:", "it has no name"},
                                       {"local:a/b", "wanted local:NAME"},
                                       {"local:" + std::string(65, 'x'), "wanted local:NAME"}}) {
    address_ = address;
    Connect();
    ASSERT_EQ(other_->closed.size(), 1U) << address;
    EXPECT_THAT(other_->closed.begin()->second.message(), HasSubstr(words));
    other_.reset();
    client_.reset();
  }
}

TEST_F(LocalTransportTest, MemoryThatIsAddedLaterIsSharedToo) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  // More than one region has, so it is in one of its own.
  const auto large = client_->env().arena.Allocate(std::size_t{1} << 29, Arena::Use::kSent);
  std::memset(large.get(), 5, 4096);
  for (int i = 0; i < 2; ++i) other_->Send(to_server_, 1, "", {{{large.get(), 4096}, large}});
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 2; }));
  EXPECT_EQ(node_->frames[1].payload, std::string(4096, 5));
  EXPECT_EQ(node_->read_in_place, 2U);
}

TEST_F(LocalTransportTest, MemoryThatIsAddedLaterIsThereBeforeAFrameThatHasItAndMoreOfIt) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  // A descriptor each, and a read of the socket ends after every one of them.
  std::vector<std::shared_ptr<std::byte>> regions;
  std::vector<Pinned> payload;
  for (int i = 0; i < 3; ++i) {
    regions.push_back(client_->env().arena.Allocate(std::size_t{1} << 29, Arena::Use::kSent));
    std::memset(regions.back().get(), 5 + i, 4096);
    payload.push_back({{regions.back().get(), 4096}, regions.back()});
  }
  other_->Send(to_server_, 1, "", payload);
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  EXPECT_EQ(node_->frames[0].payload, std::string(4096, 5) + std::string(4096, 6) + std::string(4096, 7));
}

TEST_F(LocalTransportTest, OneThatSleepsIsWokenForEveryFrame) {
  Listen();
  Connect();
  ASSERT_TRUE(RunUntil([&] { return node_->accepted.size() == 1; }));
  node_->on_frame = [this](const ReceivedFrame& frame) { node_->Send(frame.id, 2, frame.body); };
  std::thread runs([this] { server_->Run(); });  // asleep most of the time, with no timer that would wake it
  const TimePoint limit = client_->env().clock.Now() + std::chrono::seconds(20);
  for (std::size_t i = 1; i <= 30 && client_->env().clock.Now() < limit; ++i) {
    other_->Send(to_server_, 1, std::to_string(i));
    while (other_->frames.size() < i && client_->env().clock.Now() < limit)
      client_->RunOnce(std::chrono::milliseconds(10));
    client_->RunOnce(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(other_->frames.size(), 30U);
  server_->Stop();
  runs.join();
}

TEST_F(LocalTransportTest, OneThatDoesNotReadIsCutOffWhenTooMuchWaitsForIt) {
  Listen();
  StreamOptions options;
  options.queue_copied_bytes_max = 100'000;
  options.stall_max = std::chrono::milliseconds(20);
  Connect(options);
  ASSERT_EQ(client_->env().transport.Carrier(to_server_), "local");
  const std::string text(1000, 'x');
  const TimePoint limit = client_->env().clock.Now() + std::chrono::seconds(20);
  while (other_->closed.empty() && client_->env().clock.Now() < limit) {
    for (int i = 0; i < 10; ++i) other_->Send(to_server_, 1, text);
    client_->RunOnce(std::chrono::milliseconds(1));  // the server never runs
  }
  ASSERT_EQ(other_->closed.size(), 1U);
  EXPECT_EQ(other_->closed.at(to_server_).code(), StatusCode::kResourceExhausted);
}

TEST_F(LocalTransportTest, OneThatTakesNothingOfWhatIsSharedIsCutOff) {
  Listen();
  constexpr std::size_t kBytes = 1 << 16;
  Connect({.queue_pinned_bytes_max = kBytes, .stall_max = std::chrono::milliseconds(50)});
  const std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  const auto send = [&] { other_->Send(to_server_, 1, "", {{{memory.get(), kBytes}, memory}}); };
  const auto run_client = [&](std::chrono::milliseconds time) {
    const TimePoint until = client_->env().clock.Now() + time;
    while (client_->env().clock.Now() < until) client_->RunOnce(std::chrono::milliseconds(1));
  };
  send();
  run_client(std::chrono::milliseconds(60));
  send();  // too much now, and for too long: the server has not run
  run_client(std::chrono::milliseconds(20));
  ASSERT_EQ(other_->closed.size(), 1U);
  EXPECT_EQ(other_->closed.at(to_server_).code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(other_->closed.at(to_server_).message(), HasSubstr("does not take what is shared with it"));
}

TEST_F(LocalTransportTest, LocalAloneFailsWhereNobodySharesMemory) {
  Listen({.carrier = Carrier::kTcp});
  Connect({.carrier = Carrier::kLocal});
  EXPECT_TRUE(other_->connected.empty());
  ASSERT_EQ(other_->closed.size(), 1U);
}

TEST_F(LocalTransportTest, OnePeerThatDoesNotGreetIsReachedOverTcpAndSaidSo) {
  Listen({.carrier = Carrier::kTcp});
  const Socket mute(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress at = LocalAddress();
  ASSERT_EQ(bind(mute.fd(), at.raw(), at.raw_bytes()), 0);
  ASSERT_EQ(listen(mute.fd(), 1), 0);
  Connect({.greeting_max = std::chrono::milliseconds(50)});
  ASSERT_EQ(other_->connected.size(), 1U);
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  EXPECT_EQ(client_->env().transport.WhyNotShared(to_server_), "no greeting within 50 ms");
}

TEST_F(LocalTransportTest, AllUnixSocketsOfAPeerHaveOneTimeToGreet) {
  Listen({.carrier = Carrier::kTcp});
  const SocketAddress tcp = NumericAddresses(*Endpoint::Parse(address_)).front();
  std::vector<Socket> mutes;
  std::vector<SocketAddress> names = {LocalAddress()};
  for (const SocketAddress& all : tcp.Wildcards()) names.push_back(SocketAddress::LocalOf(all));
  for (const SocketAddress& at : names) {
    const Socket& mute = mutes.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ASSERT_EQ(bind(mute.fd(), at.raw(), at.raw_bytes()), 0);
    ASSERT_EQ(listen(mute.fd(), 1), 0);
  }
  Connect({.greeting_max = std::chrono::milliseconds(50)});
  EXPECT_EQ(client_->env().transport.Carrier(to_server_), "tcp");
  int asked = 0;
  for (const Socket& mute : mutes) asked += Socket(accept(mute.fd(), nullptr, nullptr)).fd() >= 0 ? 1 : 0;
  EXPECT_EQ(asked, 1);
}

TEST_F(LocalTransportTest, APeerThatIsGoneIsUnmappedAndLeavesNothing) {
  Listen();
  const int before = MappedRegions();
  Connect();
  const int together = MappedRegions();
  EXPECT_GE(together, before + 2) << "each maps the other's";
  other_.reset();
  client_.reset();
  ASSERT_TRUE(RunUntil([&] { return node_->closed.size() == 1; }));
  server_->RunOnce(std::chrono::milliseconds(1));
  EXPECT_LT(MappedRegions(), together);
  node_.reset();
  server_.reset();
  EXPECT_EQ(MappedRegions(), 0);
}

TEST_F(LocalTransportTest, WhatWasSentBeforeTheEndIsReadBeforeIt) {
  Listen();
  Connect();
  ASSERT_EQ(client_->env().transport.Carrier(to_server_), "local");
  ASSERT_TRUE(RunUntil([&] { return node_->accepted.size() == 1; }));
  // In a task of the server's: after that it looks at the socket first, and finds its end.
  server_->Post([this] {
    for (int i = 0; i < 100; ++i) other_->Send(to_server_, 1, std::string(500, 'a'));
    other_.reset();
    client_.reset();  // its process is gone
  });
  ASSERT_TRUE(RunUntil([&] { return node_->closed.size() == 1; }));
  EXPECT_EQ(node_->frames.size(), 100U);
  EXPECT_EQ(node_->closed.begin()->second.code(), StatusCode::kUnavailable);
}

TEST_F(LocalTransportTest, WhatWasSentIsDisownedBeforeItIsTakenBack) {
  Listen();
  Connect();
  node_->reads_in_place = true;
  constexpr std::size_t kBytes = 1 << 16;
  const std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  // The sender closes while the reader is in the middle of the frame.
  bool before = false;
  bool after = true;
  node_->on_landing = [&](const Landing& landing) {
    before = landing.witness.Holds();
    other_->Close(to_server_);
    for (int i = 0; i < 10; ++i) client_->RunOnce(Duration::zero());
    after = landing.witness.Holds();
  };
  other_->Send(to_server_, 1, "", {{{memory.get(), kBytes}, memory}});
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  EXPECT_TRUE(before);
  EXPECT_FALSE(after);
}

TEST_F(LocalTransportTest, WhatWasCopiedFromMemoryThatWasTakenBackIsNoFrame) {
  Listen();
  Connect();
  constexpr std::size_t kBytes = 1 << 16;
  const std::shared_ptr<std::byte> memory = client_->env().arena.Allocate(kBytes, Arena::Use::kSent);
  // The sender closes when the reader has begun.
  node_->on_frame_start = [&](ConnectionId) {
    other_->Close(to_server_);
    for (int i = 0; i < 10; ++i) client_->RunOnce(Duration::zero());
  };
  other_->Send(to_server_, 1, "", {{{memory.get(), kBytes}, memory}});
  ASSERT_TRUE(RunUntil([&] { return node_->closed.size() == 1; }));
  EXPECT_THAT(node_->closed.begin()->second.message(), HasSubstr("while its memory was read"));
  EXPECT_TRUE(node_->frames.empty());
  EXPECT_EQ(node_->leases, 0);
}

}  // namespace
}  // namespace leeway::contract
