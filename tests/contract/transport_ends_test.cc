// The contract of every transport, run on each of them: how connections begin and end, and timers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "transport_contract.h"
#include "wire/frame.h"

namespace leeway::contract {
namespace {

using ::testing::HasSubstr;

TEST_P(TransportContract, NobodyThereIsReportedOnce) {
  const std::string dead = world_->DeadAddress();
  const ConnectionId id = client_.Connect(dead);
  client_.Send(id, 1, "into the void");
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(id) > 0; }));
  EXPECT_EQ(client_.closed.at(id).code(), StatusCode::kUnavailable);
  EXPECT_THAT(client_.closed.at(id).message(), HasSubstr(dead));
  EXPECT_TRUE(client_.connected.empty());
  world_->RunFor(std::chrono::milliseconds(10));
}

TEST_P(TransportContract, ABadAddressIsReportedAsAnEvent) {
  const ConnectionId id = client_.Connect("no port here");
  EXPECT_TRUE(client_.closed.empty());
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(id) > 0; }));
  EXPECT_THAT(client_.closed.at(id).message(), HasSubstr("no port here"));
}

TEST_P(TransportContract, CallsOnAConnectionThatIsGoneDoNothing) {
  Join();
  server_.Close(to_client_);
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(to_server_) > 0; }));
  const Text large = Lend(Pattern(100'000, 1));
  for (const ConnectionId gone : {to_server_, to_client_, ConnectionId(0), ConnectionId(12'345)}) {
    client_.Send(gone, 1, "hello?", {PinnedText(large)});
    server_.Send(gone, 1, "hello?", {PinnedText(large)});
    world_->client().transport.SetLimits(gone, {});
    EXPECT_EQ(world_->client().transport.QueuedBytes(gone), 0U);
  }
  world_->client().transport.Close(to_server_);
  world_->client().transport.CloseAfterSend(to_server_);
  world_->client().transport.Close(ConnectionId(0));
  world_->RunFor(std::chrono::milliseconds(10));
  EXPECT_EQ(large.use_count(), 1);
  EXPECT_EQ(server_.frames.size() + client_.frames.size(), 0U);
}

TEST_P(TransportContract, AConnectThatIsClosedAtOnceMakesNoEvent) {
  const ConnectionId up = client_.Connect(address_);
  const ConnectionId refused = client_.Connect(world_->DeadAddress());
  const ConnectionId bad = client_.Connect("bad");
  for (const ConnectionId id : {up, refused, bad}) client_.Close(id);
  world_->RunFor(std::chrono::milliseconds(30));
  EXPECT_TRUE(client_.connected.empty());
  EXPECT_TRUE(client_.closed.empty());
}

TEST_P(TransportContract, WhoIsTurnedAwayWhenItIsAcceptedHearsOfIt) {
  server_.on_accepted = [this](ConnectionId id) { server_.Close(id); };
  const ConnectionId id = client_.Connect(address_);
  client_.Send(id, 1, "let me in");
  EXPECT_TRUE(world_->RunUntil([&] { return client_.closed.count(id) > 0; }));
  EXPECT_EQ(server_.accepted.size(), 1U);
  EXPECT_TRUE(server_.frames.empty());
}

TEST_P(TransportContract, PinsAreDroppedOnceTheBytesHaveLeft) {
  Join();
  const Text small = Lend(Pattern(100, 1));
  const Text large = Lend(Pattern(1 << 20, 2));
  client_.Send(to_server_, 1, "", {PinnedText(small), PinnedText(large)});
  EXPECT_EQ(large.use_count(), 2) << "lent, not copied";
  EXPECT_GE(world_->client().transport.QueuedBytes(to_server_), large->size());
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == 1; }));
  ASSERT_TRUE(world_->RunUntil([&] { return small.use_count() == 1 && large.use_count() == 1; }));
  EXPECT_EQ(world_->client().transport.QueuedBytes(to_server_), 0U);
}

TEST_P(TransportContract, CloseAfterSendDeliversAllThatWasQueued) {
  Join();
  const Text megabyte = Lend(Pattern(1 << 20, 5));
  // The server goes on sending to the closing side: that must not cost it what it has not read yet.
  server_.on_frame = [&](const ReceivedFrame& frame) {
    server_.Send(frame.id, 2, "", {PinnedText(megabyte)});
  };
  for (int i = 0; i < 16; ++i) client_.Send(to_server_, 1, std::to_string(i), {PinnedText(megabyte)});
  client_.Send(to_server_, 1, "goodbye");
  client_.CloseAfterSend(to_server_);
  client_.Send(to_server_, 1, "too late");
  ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(to_client_) > 0; }));
  ASSERT_EQ(server_.frames.size(), 17U);
  EXPECT_EQ(server_.frames.back().body, "goodbye");
  EXPECT_TRUE(client_.frames.empty());
  ASSERT_TRUE(world_->RunUntil([&] { return megabyte.use_count() == 1; }));
}

TEST_P(TransportContract, CloseAfterSendDeliversAlsoWhatNoMemoryIsSharedFor) {
  Join();
  const Text megabyte = LendOutside(Pattern(1 << 20, 6));
  // Both ends have more on its way than anything between them holds.
  server_.on_frame = [&](const ReceivedFrame& frame) {
    server_.Send(frame.id, 2, "", {PinnedText(megabyte)});
    if (frame.body == "goodbye") server_.CloseAfterSend(frame.id);
  };
  for (int i = 0; i < 4; ++i) client_.Send(to_server_, 1, std::to_string(i), {PinnedText(megabyte)});
  client_.Send(to_server_, 1, "goodbye");
  client_.CloseAfterSend(to_server_);
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == 5; }));
  EXPECT_EQ(server_.frames.back().body, "goodbye");
  ASSERT_TRUE(world_->RunUntil([&] { return megabyte.use_count() == 1; }));
}

TEST_P(TransportContract, CloseAfterSendWorksInsideAFrameAndBeforeTheConnectionIsUp) {
  Join();
  server_.on_frame = [&](const ReceivedFrame& frame) {
    server_.Send(frame.id, 2, "refused");
    server_.CloseAfterSend(frame.id);
  };
  client_.Send(to_server_, 1, "let me in");
  client_.Send(to_server_, 1, "never seen");
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(to_server_) > 0; }));
  ASSERT_EQ(client_.frames.size(), 1U);
  EXPECT_EQ(client_.frames[0].body, "refused");
  EXPECT_EQ(server_.frames.size(), 1U);

  server_.on_frame = {};
  const ConnectionId hasty = client_.Connect(address_);
  client_.Send(hasty, 1, "hit and run");
  client_.CloseAfterSend(hasty);
  ASSERT_TRUE(world_->RunUntil([&] { return server_.frames.size() == 2; }));
  EXPECT_EQ(server_.frames[1].body, "hit and run");
}

TEST_P(TransportContract, IdsAreNeverUsedTwice) {
  std::set<ConnectionId> seen;
  for (int i = 0; i < 50; ++i) {
    Join();
    EXPECT_TRUE(seen.insert(to_server_).second);
    client_.Close(to_server_);
    ASSERT_TRUE(world_->RunUntil([&] { return server_.closed.count(to_client_) > 0; }));
    client_.connected.clear();
  }
  const std::set<ConnectionId> accepted(server_.accepted.begin(), server_.accepted.end());
  EXPECT_EQ(accepted.size(), 50U);
}

TEST_P(TransportContract, AWordLeftBehindByAPeerThatClosedIsHeardBeforeTheEnd) {
  Join();
  server_.Send(to_client_, 1, "last words");
  server_.CloseAfterSend(to_client_);
  // The client goes on sending into a closed connection.
  const Text large = Lend(Pattern(1 << 20, 5));
  for (int i = 0; i < 8; ++i) client_.Send(to_server_, 1, "", {PinnedText(large)});
  ASSERT_TRUE(world_->RunUntil([&] { return client_.closed.count(to_server_) > 0; }));
  ASSERT_EQ(client_.frames.size(), 1U);
  EXPECT_EQ(client_.frames[0].body, "last words");
}

TEST_P(TransportContract, TimersFireInOrderNeverEarlyAndNotWhenCancelled) {
  Env& env = world_->client();
  const TimePoint start = env.clock.Now();
  std::string order;
  const auto at = [&](int ms, char name) {
    return env.timers.After(std::chrono::milliseconds(ms), [&, ms, name] {
      EXPECT_GE(env.clock.Now() - start, std::chrono::milliseconds(ms));
      order += name;
    });
  };
  (void)at(8, 'c');
  (void)at(2, 'a');
  const TimerId never = at(4, 'x');
  (void)at(5, 'b');
  env.timers.Cancel(never);
  env.timers.Cancel(never);
  (void)env.timers.After(Duration::zero(), [&] { order += '0'; });
  EXPECT_EQ(order, "") << "no callback from inside a call";
  ASSERT_TRUE(world_->RunUntil([&] { return order.size() == 4; }));
  EXPECT_EQ(order, "0abc");
}

}  // namespace
}  // namespace leeway::contract
