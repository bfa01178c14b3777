#include "node/scheduler/job_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/handshake.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobPeersTest : public ::testing::Test, private InboundEvents {
 protected:
  void SetUp() override {
    options.job.job = "j";
    options.monitors_max = 2;
    peers = std::make_unique<JobPeers>(
        world.env, options, 2, [] { return wire::pb::Roster(); }, static_cast<InboundEvents&>(*this));
    ASSERT_TRUE(peers->Listen("127.0.0.1:0").ok());
  }
  ConnectionId Come(wire::pb::Role role, std::size_t seat) {
    next = {role, seat, 1};
    wire::pb::Hello hello;
    hello.set_version_min(wire::kVersionMin);
    hello.set_version_max(wire::kVersionMax);
    hello.set_job("j");
    hello.set_role(role);
    const ConnectionId id = world.transport.Accept();
    EXPECT_TRUE(testing::SayHello(world.transport, id, hello).ok());
    world.transport.sent.clear();
    return id;
  }
  std::vector<ConnectionId> Told(wire::Kind kind) {
    std::vector<ConnectionId> told;
    for (const testing::SentFrame& frame : std::exchange(world.transport.sent, {})) {
      if (frame.kind == kind) told.push_back(frame.to);
    }
    return told;
  }

  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello&) override {
    peers->Add(id, next);
    return wire::pb::Welcome();
  }
  void OnWelcomed(ConnectionId) override {}
  Result<Landing> OnFrameStart(ConnectionId, const FrameHead&, std::span<const std::byte>) override {
    return Landing();
  }
  Status OnFrame(ConnectionId, const FrameHead&, std::span<const std::byte>, Landing&&) override {
    return Status::Ok();
  }
  void OnGone(ConnectionId, Parting, const Status&) override {}

  testing::FakeEnv world;
  SchedulerOptions options;
  JobPeers::Peer next;
  std::unique_ptr<JobPeers> peers;
};

TEST_F(JobPeersTest, ShardsHearInTheOrderOfTheirIds) {
  const ConnectionId second = Come(wire::pb::ROLE_SERVER, 1);
  const ConnectionId first = Come(wire::pb::ROLE_SERVER, 0);
  (void)Come(wire::pb::ROLE_WORKER, 0);
  peers->SendToShards(wire::Kind::kTableMap, wire::pb::TableMap());
  EXPECT_THAT(Told(wire::Kind::kTableMap), ElementsAre(first, second));
}

TEST_F(JobPeersTest, MembersHearAndMonitorsDoNot) {
  const ConnectionId worker = Come(wire::pb::ROLE_WORKER, 0);
  (void)Come(wire::pb::ROLE_MONITOR, 0);
  const ConnectionId shard = Come(wire::pb::ROLE_SERVER, 0);
  peers->SendToMembers(wire::Kind::kTableMap, wire::pb::TableMap(), wire::pb::TableMap());
  EXPECT_THAT(Told(wire::Kind::kTableMap), ElementsAre(worker, shard));
  peers->SendRosterToOthers(worker);
  EXPECT_THAT(Told(wire::Kind::kRoster), ElementsAre(shard));
}

TEST_F(JobPeersTest, BeforeANewEpochTheShardsHearWhoIsGone) {
  const ConnectionId shard = Come(wire::pb::ROLE_SERVER, 0);
  peers->OnMemberGone(false);
  EXPECT_THAT(Told(wire::Kind::kRoster), ElementsAre(shard));
  (void)peers->NextEpoch();
  EXPECT_THAT(Told(wire::Kind::kRoster), IsEmpty()) << "they have heard";
  peers->OnMemberGone(false);
  (void)Told(wire::Kind::kRoster);
  EXPECT_EQ(peers->NextEpoch(), Epoch(2));
  EXPECT_THAT(Told(wire::Kind::kRoster), ElementsAre(shard));
}

TEST_F(JobPeersTest, WhatWaitsForAnEpochOfAConnectionThatIsGoneIsDropped) {
  const ConnectionId worker = Come(wire::pb::ROLE_WORKER, 0);
  int ran = 0;
  const Epoch epoch = peers->NextEpoch();
  peers->WhenAcked(epoch, worker, [&] { ++ran; });
  peers->WhenAcked(epoch, ConnectionId{}, [&] { ++ran; });
  peers->Remove(worker);
  peers->Ack(ShardId(0), epoch);
  EXPECT_THAT(peers->Unacked(epoch), ElementsAre(ShardId(1)));
  peers->Ack(ShardId(1), epoch);
  EXPECT_EQ(ran, 1);
}

TEST_F(JobPeersTest, OneMonitorMoreThanMayBeIsRefused) {
  (void)Come(wire::pb::ROLE_MONITOR, 0);
  EXPECT_TRUE(peers->CheckMonitors().ok());
  (void)Come(wire::pb::ROLE_MONITOR, 0);
  EXPECT_FALSE(peers->CheckMonitors().ok());
}

TEST_F(JobPeersTest, AMonitorThatReadsNothingIsAnsweredNoMoreAndThenCutOff) {
  const ConnectionId id = Come(wire::pb::ROLE_MONITOR, 0);
  EXPECT_TRUE(*peers->MayAnswerStatus(id));
  world.transport.queued_bytes = 1000;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(*peers->MayAnswerStatus(id));
  EXPECT_FALSE(peers->MayAnswerStatus(id).ok());
  world.transport.queued_bytes = 0;
  EXPECT_TRUE(*peers->MayAnswerStatus(id));
}

}  // namespace
}  // namespace leeway
