// The gate of Inbound: what was said waits until it is let go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/inbound.h"
#include "node/testing/handshake.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using testing::FakeEnv;
using testing::ParseAs;
using testing::SentFrame;

class GateDiary final : public InboundEvents {
 public:
  Result<wire::pb::Welcome> OnHello(ConnectionId, const wire::pb::Hello&) override {
    if (!refuse_with.ok()) return refuse_with;
    return wire::pb::Welcome();
  }
  void OnWelcomed(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Protocol("no payload is wanted");
  }
  Status OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override {
    ++frames;
    return answer;
  }
  void OnGone(ConnectionId id, Parting, const Status&) override { gone.push_back(id); }

  Status refuse_with, answer;
  int frames = 0;
  std::vector<ConnectionId> gone;
};

class InboundHoldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(inbound.Listen("127.0.0.1:0").ok());
    inbound.Hold([this] { ++waiting; });
  }
  ConnectionId Connect() {
    const ConnectionId id = world.transport.Accept();
    wire::pb::Hello hello;
    hello.set_version_min(wire::kVersionMin);
    hello.set_version_max(wire::kVersionMax);
    hello.set_job("j");
    hello.set_role(wire::pb::ROLE_WORKER);
    EXPECT_TRUE(testing::SayHello(world.transport, id, hello).ok());
    return id;
  }
  void ReleaseAll() { inbound.Release(inbound.last_held()); }
  std::vector<wire::Kind> Kinds(ConnectionId id) {
    std::vector<wire::Kind> kinds;
    for (const SentFrame& frame : world.transport.TakeSent(id)) kinds.push_back(frame.kind);
    return kinds;
  }

  FakeEnv world;
  GateDiary events;
  LinkOptions options;
  Inbound inbound{world.env, options, "j", events};
  int waiting = 0;
};

using HeldKinds = std::vector<wire::Kind>;

TEST_F(InboundHoldTest, NothingLeavesBeforeItsRelease) {
  const ConnectionId id = Connect();
  inbound.SendControl(id, wire::Kind::kRoster, wire::pb::Roster());
  EXPECT_TRUE(Kinds(id).empty());
  EXPECT_EQ(waiting, 2) << "the welcome and the roster";
  const std::uint64_t up_to = inbound.last_held();
  inbound.SendControl(id, wire::Kind::kLeft, wire::pb::Left());
  inbound.Release(up_to);
  EXPECT_EQ(Kinds(id), (HeldKinds{wire::Kind::kWelcome, wire::Kind::kRoster})) << "in order, and no more";
  ReleaseAll();
  EXPECT_EQ(Kinds(id), HeldKinds{wire::Kind::kLeft});
  ReleaseAll();
  EXPECT_TRUE(Kinds(id).empty()) << "once";
}

TEST_F(InboundHoldTest, PingsAndWhatComesInGoOn) {
  const ConnectionId id = Connect();
  ReleaseAll();
  (void)Kinds(id);
  inbound.SendControl(id, wire::Kind::kRoster, wire::pb::Roster());
  ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kPing, {}).ok());
  EXPECT_EQ(Kinds(id), HeldKinds{wire::Kind::kPong});
  ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kLeave, {}).ok());
  EXPECT_EQ(events.frames, 1);
  world.Advance(options.beat);
  EXPECT_EQ(Kinds(id), HeldKinds{wire::Kind::kPing});
}

TEST_F(InboundHoldTest, AWelcomeIsTheFirstThatAPeerHears) {
  const ConnectionId id = Connect();
  world.Advance(options.beat * 3);
  EXPECT_TRUE(Kinds(id).empty()) << "no ping before it";
  ReleaseAll();
  EXPECT_EQ(Kinds(id), HeldKinds{wire::Kind::kWelcome});
}

TEST_F(InboundHoldTest, AGoodbyeAndItsCloseWait) {
  const ConnectionId id = Connect();
  inbound.Close(id, Fenced("over"));
  EXPECT_TRUE(world.transport.IsOpen(id));
  ASSERT_TRUE(world.transport.Deliver(id, wire::Kind::kLeave, {}).ok());
  EXPECT_EQ(events.frames, 0) << "for the node it is gone";
  ReleaseAll();
  EXPECT_EQ(Kinds(id), (HeldKinds{wire::Kind::kWelcome, wire::Kind::kGoodbye}));
  EXPECT_FALSE(world.transport.IsOpen(id));
  EXPECT_TRUE(events.gone.empty());
}

TEST_F(InboundHoldTest, ARefusalAndACutOffWaitToo) {
  events.refuse_with = AlreadyExists("taken");
  const ConnectionId refused = Connect();
  events.refuse_with = Status::Ok();
  const ConnectionId cut_off = Connect();
  events.answer = Protocol("what was that");
  ASSERT_TRUE(world.transport.Deliver(cut_off, wire::Kind::kLeave, {}).ok());
  EXPECT_EQ(events.gone, std::vector<ConnectionId>{cut_off});
  EXPECT_TRUE(world.transport.IsOpen(refused));
  EXPECT_TRUE(world.transport.IsOpen(cut_off));
  ReleaseAll();
  EXPECT_FALSE(world.transport.IsOpen(refused));
  EXPECT_FALSE(world.transport.IsOpen(cut_off));
  EXPECT_EQ(Kinds(refused), HeldKinds{wire::Kind::kWelcome});
  EXPECT_EQ(Kinds(cut_off), (HeldKinds{wire::Kind::kWelcome, wire::Kind::kGoodbye}));
}

TEST_F(InboundHoldTest, AConnectionThatIsGoneDropsItsShare) {
  const ConnectionId gone = Connect();
  const ConnectionId here = Connect();
  inbound.SendControl(gone, wire::Kind::kRoster, wire::pb::Roster());
  (void)world.transport.Lose(gone);
  EXPECT_EQ(events.gone, std::vector<ConnectionId>{gone});
  ReleaseAll();
  EXPECT_TRUE(Kinds(gone).empty());
  EXPECT_EQ(Kinds(here), HeldKinds{wire::Kind::kWelcome});
}

TEST_F(InboundHoldTest, WithoutRoomTheConnectionIsClosed) {
  const ConnectionId greedy = Connect();
  const std::vector<std::byte> large(HeldFrames::kBytesMax / 4);
  for (int i = 0; i < 3; ++i) inbound.Send(greedy, wire::Kind::kRoster, large);
  EXPECT_TRUE(world.transport.IsOpen(greedy));
  inbound.Send(greedy, wire::Kind::kRoster, large);
  EXPECT_FALSE(world.transport.IsOpen(greedy));
  EXPECT_TRUE(events.gone.empty()) << "not from inside the call";
  inbound.Send(greedy, wire::Kind::kRoster, large);  // nothing more is kept for it
  world.Advance(options.beat);
  EXPECT_EQ(events.gone, std::vector<ConnectionId>{greedy});
  const ConnectionId other = Connect();
  ReleaseAll();
  EXPECT_EQ(Kinds(other), HeldKinds{wire::Kind::kWelcome}) << "its share made room";
  EXPECT_TRUE(Kinds(greedy).empty());
}

TEST_F(InboundHoldTest, ClosesTakeRoomAsFramesDo) {
  const ConnectionId greedy = Connect();
  const std::vector<std::byte> large(HeldFrames::kBytesMax / 4);
  for (int i = 0; i < 3; ++i) inbound.Send(greedy, wire::Kind::kRoster, large);
  inbound.Send(greedy, wire::Kind::kRoster, std::span(large).first(large.size() - 4096));
  ASSERT_TRUE(world.transport.IsOpen(greedy));
  events.refuse_with = AlreadyExists("taken");
  for (int i = 0; i < 100; ++i) (void)Connect();  // together they need more than the room that remains
  const std::uint64_t held = inbound.last_held();
  const ConnectionId last = Connect();
  EXPECT_EQ(inbound.last_held(), held) << "nothing waits for one that is closed already";
  EXPECT_FALSE(world.transport.IsOpen(last));
  EXPECT_TRUE(world.transport.IsOpen(greedy));
}

TEST_F(InboundHoldTest, WhatIsDroppedIsNeverSaid) {
  const ConnectionId id = Connect();
  inbound.SendControl(id, wire::Kind::kRoster, wire::pb::Roster());
  inbound.EndHold(true);
  EXPECT_EQ(Kinds(id), HeldKinds{wire::Kind::kWelcome}) << "without it nothing that follows could be heard";
  inbound.SendControl(id, wire::Kind::kJobEnd, wire::pb::JobEnd());
  EXPECT_EQ(Kinds(id), HeldKinds{wire::Kind::kJobEnd}) << "nothing is held any more";
}

}  // namespace
}  // namespace leeway
