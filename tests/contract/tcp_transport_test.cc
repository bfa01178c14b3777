// The behaviour of TCP alone: sockets, ports, peers that do not read.
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

#include "transport/real_env.h"
#include "transport/stream/address.h"
#include "transport/stream/socket.h"
#include "transport/stream/stream_options.h"
#include "transport/system/descriptor.h"
#include "transport_recorder.h"
#include "wire/frame.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

class NoLog final : public Log {
 public:
  void Write(LogLevel, std::string_view) override {}
};

// One Env, a listener, and a bare blocking socket connected to it.
class StreamTransportTest : public ::testing::Test {
 protected:
  void Start(const StreamOptions& options = {}) {
    env_ = std::make_unique<RealEnv>(log_, options);
    node_ = std::make_unique<TransportRecorder>(env_->env());
    const Result<std::string> address = node_->Listen("127.0.0.1:0");
    ASSERT_TRUE(address.ok()) << address.status().ToString();
    address_ = *address;
    const SocketAddress to = NumericAddresses(*Endpoint::Parse(address_)).front();
    ASSERT_EQ(connect(peer_.fd(), to.raw(), to.raw_bytes()), 0);
    ASSERT_TRUE(RunUntil([&] { return node_->accepted.size() == 1; }));
    id_ = node_->accepted[0];
  }

  bool RunUntil(const std::function<bool()>& done) {
    const TimePoint limit = env_->env().clock.Now() + std::chrono::seconds(20);
    while (!done() && env_->env().clock.Now() < limit) env_->RunOnce(std::chrono::milliseconds(1));
    return done();
  }

  NoLog log_;
  std::unique_ptr<RealEnv> env_;
  std::unique_ptr<TransportRecorder> node_;
  Socket peer_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string address_;
  ConnectionId id_;
};

TEST_F(StreamTransportTest, APeerThatDoesNotReadIsCutOffAtTheLimitOfCopiedBytes) {
  Start({.queue_copied_bytes_max = 1 << 20, .stall_max = std::chrono::milliseconds(50)});
  const std::string body(100'000, 'x');
  ASSERT_TRUE(RunUntil([&] {
    if (node_->closed.empty()) node_->Send(id_, 1, body);
    return !node_->closed.empty();
  }));
  EXPECT_EQ(node_->closed.at(id_).code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(node_->closed.at(id_).message(), HasSubstr("does not read"));
}

TEST_F(StreamTransportTest, APeerThatDoesNotReadIsCutOffAtTheLimitOfFrames) {
  Start({.queue_frames_max = 100, .stall_max = std::chrono::milliseconds(50)});
  for (int i = 0; i < 101; ++i) node_->Send(id_, 1, "within one turn nothing has left yet");
  ASSERT_TRUE(RunUntil([&] { return env_->env().transport.QueuedBytes(id_) == 0; }));
  EXPECT_TRUE(node_->closed.empty());
  const std::string body(100'000, 'x');
  ASSERT_TRUE(RunUntil([&] {
    if (node_->closed.empty()) node_->Send(id_, 1, body);
    return !node_->closed.empty();
  }));
  EXPECT_THAT(node_->closed.at(id_).message(), HasSubstr("at most 100 frames"));
}

TEST_F(StreamTransportTest, FarMoreThanTheLimitsMayWaitForAPeerThatReads) {
  Start({.queue_frames_max = 100, .queue_copied_bytes_max = 1 << 20});
  const std::string body(2048, 'x');
  constexpr std::size_t kFrames = 16'000;
  for (std::size_t i = 0; i < kFrames; ++i) {
    node_->Send(id_, 1, body);
    if (i % 1000 == 0) env_->RunOnce(Duration::zero());
  }
  std::thread reader([fd = peer_.fd(), left = kFrames * (body.size() + wire::kHeaderBytes)]() mutable {
    std::vector<char> buffer(1 << 20);
    while (left > 0) {
      const ssize_t n = recv(fd, buffer.data(), std::min(left, buffer.size()), 0);
      if (n <= 0) return;
      left -= static_cast<std::size_t>(n);
    }
  });
  EXPECT_TRUE(RunUntil([&] { return env_->env().transport.QueuedBytes(id_) == 0; }));
  EXPECT_TRUE(node_->closed.empty());
  if (!node_->closed.empty()) env_.reset();  // lets the reader go
  reader.join();
}

TEST_F(StreamTransportTest, PinnedBytesCountOnlyAgainstAPeerThatTakesNothing) {
  Start({.queue_pinned_bytes_max = 1 << 20, .stall_max = std::chrono::milliseconds(50)});
  const auto large = std::make_shared<const std::string>(8 << 20, 'x');
  const std::vector<Pinned> payload = {{std::as_bytes(std::span(*large)), large}};
  for (int i = 0; i < 4; ++i) node_->Send(id_, 1, "", payload);
  std::thread reader([fd = peer_.fd()] {
    std::vector<char> buffer(1 << 20);
    for (std::size_t left = 4 * ((8 << 20) + 16); left > 0;) {
      const ssize_t n = recv(fd, buffer.data(), std::min(left, buffer.size()), 0);
      if (n <= 0) return;
      left -= static_cast<std::size_t>(n);
    }
  });
  EXPECT_TRUE(RunUntil([&] { return large.use_count() == 1 + 1; }));  // all left but for `payload` itself
  reader.join();
  EXPECT_TRUE(node_->closed.empty()) << node_->closed.begin()->second.ToString();

  while (node_->closed.empty()) {
    node_->Send(id_, 1, "", payload);
    env_->RunOnce(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(node_->closed.at(id_).code(), StatusCode::kResourceExhausted);
}

TEST_F(StreamTransportTest, AResetIsReportedAfterWhatCameBeforeIt) {
  Start();
  node_->Send(id_, 1, "unread by the peer, so that its close is a reset");
  ASSERT_TRUE(RunUntil([&] { return env_->env().transport.QueuedBytes(id_) == 0; }));
  const auto frame = wire::EncodeHeader({.kind = 7, .body_bytes = 0, .payload_bytes = 0});
  ASSERT_EQ(send(peer_.fd(), frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  peer_ = Socket();
  ASSERT_TRUE(RunUntil([&] { return !node_->closed.empty(); }));
  ASSERT_EQ(node_->frames.size(), 1U);
  EXPECT_THAT(node_->closed.at(id_).message(), HasSubstr("reset"));
}

TEST_F(StreamTransportTest, WhatThePeerSaidIsHeardEvenIfSendingFindsTheEndFirst) {
  Start();
  node_->Send(id_, 1, "unread by the peer, so that its close is a reset");
  ASSERT_TRUE(RunUntil([&] { return env_->env().transport.QueuedBytes(id_) == 0; }));
  const auto frame = wire::EncodeHeader({.kind = 7, .body_bytes = 0, .payload_bytes = 0});
  ASSERT_EQ(send(peer_.fd(), frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
  peer_ = Socket();
  node_->Send(id_, 1, "sent at the end of the next turn, before anything is read");
  ASSERT_TRUE(RunUntil([&] { return !node_->closed.empty(); }));
  ASSERT_EQ(node_->frames.size(), 1U);
  EXPECT_EQ(node_->frames[0].kind, 7);
}

TEST_F(StreamTransportTest, CloseAfterSendOutlivesWhatASlowPeerStillSends) {
  // A small window keeps most of the frame on our side of the kernel, where a reset would throw it away.
  const int window = 4096;
  ASSERT_EQ(setsockopt(peer_.fd(), SOL_SOCKET, SO_RCVBUF, &window, sizeof(window)), 0);
  Start({.linger_max = std::chrono::seconds(20)});
  const auto large = std::make_shared<const std::string>(1 << 20, 'x');
  node_->Send(id_, 1, "", {{std::as_bytes(std::span(*large)), large}});
  node_->CloseAfterSend(id_);
  std::atomic<bool> ended{false};
  std::size_t heard = 0;
  std::thread talker([&] {
    std::vector<char> buffer(4096);
    for (ssize_t n = 1; n > 0; heard += static_cast<std::size_t>(std::max<ssize_t>(n, 0))) {
      if (send(peer_.fd(), "?", 1, MSG_NOSIGNAL) != 1) break;
      n = recv(peer_.fd(), buffer.data(), buffer.size(), 0);
    }
    ended = true;
  });
  EXPECT_TRUE(RunUntil([&] { return ended.load(); }));
  talker.join();
  EXPECT_EQ(heard, wire::kHeaderBytes + large->size());
}

TEST_F(StreamTransportTest, LingeringEndsAtItsLimitWhenThePeerNeverReads) {
  Start({.linger_max = std::chrono::milliseconds(50)});
  const auto large = std::make_shared<const std::string>(32 << 20, 'x');
  node_->Send(id_, 1, "", {{std::as_bytes(std::span(*large)), large}});
  node_->CloseAfterSend(id_);
  EXPECT_TRUE(RunUntil([&] { return large.use_count() == 1; }));
}

TEST_F(StreamTransportTest, ASecondCloseAfterSendLeavesNoTimerBehind) {
  constexpr auto kLinger = std::chrono::milliseconds(200);
  Start({.linger_max = kLinger});
  node_->CloseAfterSend(id_);
  node_->CloseAfterSend(id_);
  peer_ = Socket();
  ASSERT_TRUE(RunUntil([&] { return env_->env().transport.Carrier(id_).empty(); }));
  // The next connection takes the memory of the first, and a timer that was left would end it.
  peer_ = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = NumericAddresses(*Endpoint::Parse(address_)).front();
  ASSERT_EQ(connect(peer_.fd(), to.raw(), to.raw_bytes()), 0);
  ASSERT_TRUE(RunUntil([&] { return node_->accepted.size() == 2; }));
  bool over = false;
  (void)env_->env().timers.After(kLinger, [&] { over = true; });
  ASSERT_TRUE(RunUntil([&] { return over; }));
  EXPECT_TRUE(node_->closed.empty());
}

TEST_F(StreamTransportTest, ListensOnLoopbackOnlyUnlessAllowed) {
  Start();
  const Result<std::string> refused = node_->Listen("0.0.0.0:0");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("--bind-any"));
  RealEnv open(log_, true);
  TransportRecorder node(open.env());
  const Result<std::string> allowed = node.Listen("0.0.0.0:0");
  EXPECT_TRUE(allowed.ok()) << allowed.status().ToString();
}

TEST_F(StreamTransportTest, APortInUseSaysWhichAndWhatToDo) {
  Start();
  const Result<std::string> again = node_->Listen(address_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.status().message(), HasSubstr(address_));
  EXPECT_THAT(again.status().message(), HasSubstr("in use"));
  EXPECT_THAT(again.status().message(), HasSubstr("port 0"));
}

TEST_F(StreamTransportTest, HostNamesAreLookedUpOffTheLoop) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
  if (!LookUp({name, 1}).ok()) GTEST_SKIP() << "this host does not know its own name";
  Start();
  // Wherever the name leads, nobody listens at port 1 (or somebody does: then it is up).
  const ConnectionId id = node_->Connect(std::string(name) + ":1");
  EXPECT_TRUE(RunUntil([&] { return node_->closed.count(id) + node_->connected.size() > 0; }));
}

TEST_F(StreamTransportTest, EveryDescriptorIsClosedOnExec) {
  Start();
  const ConnectionId id = node_->Connect(address_);
  ASSERT_TRUE(RunUntil([&] { return node_->connected.size() == 1 && node_->accepted.size() == 2; }));
  DIR* const open = opendir("/proc/self/fd");
  ASSERT_NE(open, nullptr);
  while (const dirent* entry = readdir(open)) {
    const int fd = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd <= 2) continue;
    char target[256] = {};
    if (readlink(("/proc/self/fd/" + std::string(entry->d_name)).c_str(), target, sizeof(target) - 1) < 0)
      continue;
    if (std::string(target).find("socket") == std::string::npos) continue;
    EXPECT_TRUE((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) << target;
  }
  closedir(open);
  node_->Close(id);
}

TEST_F(StreamTransportTest, AnIdleConnectionUsesNoProcessor) {
  Start();
  const ConnectionId id = node_->Connect(address_);
  ASSERT_TRUE(RunUntil([&] { return node_->connected.size() == 1 && node_->accepted.size() == 2; }));
  // Once more than the kernel takes was queued and has left, no wait for room may be left behind.
  const auto large = std::make_shared<const std::string>(16 << 20, 'x');
  node_->Send(id, 1, "", {{std::as_bytes(std::span(*large)), large}});
  ASSERT_TRUE(RunUntil([&] { return node_->frames.size() == 1; }));
  while (env_->RunOnce(std::chrono::milliseconds(20))) {
  }
  timespec before{}, after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  const TimePoint end = env_->env().clock.Now() + std::chrono::milliseconds(200);
  int events = 0;
  for (TimePoint now = env_->env().clock.Now(); now < end; now = env_->env().clock.Now())
    events += env_->RunOnce(end - now) ? 1 : 0;
  EXPECT_LE(events, 1) << "the time for a greeting may end meanwhile, and nothing else";
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const double used_ms = static_cast<double>(after.tv_sec - before.tv_sec) * 1e3 +
                         static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e6;
  EXPECT_LT(used_ms, 100.0) << "a loop that spins would use all of the 200 ms";
}

TEST(RealEnvTest, PostAndStopWorkFromAnotherThread) {
  NoLog log;
  RealEnv env(log);
  bool ran = false;
  std::thread other([&] {
    env.Post([&] { ran = true; });
    env.Post([&] { env.Stop(); });
  });
  env.Run();
  other.join();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace leeway::contract
