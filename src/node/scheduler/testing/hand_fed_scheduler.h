// HandFedScheduler: one scheduler in a fake world. The test is all workers and shards of its job.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exchange/exchanges.h"
#include "node/scheduler/scheduler_node.h"
#include "node/testing/fake_env.h"
#include "node/testing/handshake.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway::testing {

using wire::Kind;

class HandFedScheduler : public ::testing::Test {
 protected:
  void SetUp() override {
    options.job.job = "j";
    options.job.workers = 2;
    options.job.servers = 2;
    options.job.block_bytes = 16;
  }
  void StartNode() {
    node = std::make_unique<SchedulerNode>(options, world.env,
                                           SchedulerPolicies{sync, optimizers, placements, exchanges},
                                           [this](const Status& why) { ended.push_back(why); });
    const Status started = node->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  // Lets everything be done that needs the disk and no time: the log is written, what waited for it is let
  // go.
  void Settle() {
    do {
      world.Advance(Duration::zero());
      world.storage.RunAll();
    } while (world.storage.pending() > 0);
    world.Advance(Duration::zero());
    world.storage.RunAll();
  }
  static wire::pb::Hello BaseHello(wire::pb::Role role, std::uint64_t life) {
    wire::pb::Hello hello;
    hello.set_version_min(wire::kVersionMin);
    hello.set_version_max(wire::kVersionMax);
    hello.set_job("j");
    hello.set_role(role);
    hello.set_life(life);
    return hello;
  }
  // Says hello on a new connection; the welcome is in `welcome`, the frames after it stay to be taken.
  ConnectionId SayHello(const wire::pb::Hello& hello) {
    const ConnectionId id = world.transport.Accept();
    (void)testing::SayHello(world.transport, id, hello);
    if (!options.log_folder.empty()) Settle();
    for (std::size_t i = 0; i < world.transport.sent.size(); ++i) {
      if (world.transport.sent[i].to != id) continue;
      EXPECT_EQ(world.transport.sent[i].kind, Kind::kWelcome) << "the welcome comes first";
      welcome = ParseAs<wire::pb::Welcome>(world.transport.sent[i]);
      world.transport.sent.erase(world.transport.sent.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    return id;
  }
  ConnectionId HelloWorker(std::int64_t rank, std::uint64_t life) {
    wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, life);
    hello.set_rank(rank);
    hello.set_host("box");
    hello.set_pid(42);
    return SayHello(hello);
  }
  ConnectionId HelloShard(std::uint32_t server, std::uint64_t life) {
    wire::pb::Hello hello = BaseHello(wire::pb::ROLE_SERVER, life);
    hello.set_server(server);
    hello.set_listen("127.0.0.1:70" + std::to_string(server));
    return SayHello(hello);
  }
  void GatherAll() {
    StartNode();
    w0 = HelloWorker(0, 100);
    w1 = HelloWorker(1, 101);
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
    ASSERT_EQ(Take<wire::pb::Roster>(w0, Kind::kRoster).size(), 1U);
    world.transport.sent.clear();
    AckAll(1);
  }
  // The same with more workers than w0 and w1, by rank.
  std::vector<ConnectionId> GatherMany(std::uint32_t workers) {
    options.job.workers = workers;
    StartNode();
    std::vector<ConnectionId> ids;
    for (std::uint32_t rank = 0; rank < workers; ++rank) ids.push_back(HelloWorker(rank, 1000 + rank));
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
    world.transport.sent.clear();
    AckAll(1);
    return ids;
  }
  void Ack(ConnectionId shard, std::uint64_t epoch) {
    wire::pb::EpochAck ack;
    ack.set_epoch(epoch);
    ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kEpochAck, ack).ok());
  }
  void AckAll(std::uint64_t epoch) {
    Ack(s0, epoch);
    Ack(s1, epoch);
  }
  // The workers have no states to give to a checkpoint, and what shards wrote is in its folder.
  void NoStates(std::uint64_t checkpoint) {
    wire::pb::RankState state;
    state.set_checkpoint(checkpoint);
    state.set_none(true);
    for (const ConnectionId id : {w0, w1}) {
      ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kRankState, state).ok());
    }
  }
  template <typename Message>
  std::vector<Message> Take(ConnectionId id, Kind kind) {
    std::vector<Message> messages;
    for (const SentFrame& frame : world.transport.TakeSent(id, kind))
      messages.push_back(ParseAs<Message>(frame));
    return messages;
  }
  void Define(ConnectionId id, std::uint64_t request, const std::string& name, std::int64_t elements) {
    wire::pb::DefineTables define;
    define.set_request(request);
    wire::pb::Table& table = *define.add_tables();
    table.set_name(name);
    table.add_shape(elements);
    table.set_dtype(1);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kDefineTables, define).ok());
  }
  void SayGoodbye(ConnectionId id, StatusCode code = StatusCode::kOk) {
    wire::pb::Goodbye goodbye;
    goodbye.set_code(static_cast<std::uint32_t>(code));
    goodbye.set_message(code == StatusCode::kOk ? "" : "my own reason");
    (void)world.transport.DeliverControl(id, Kind::kGoodbye, goodbye);
  }
  void Leave(ConnectionId id) {
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kLeave, wire::pb::Leave()).ok());
  }
  void SendReport(ConnectionId id, std::int64_t iteration, bool has_final = false) {
    wire::pb::Report report;
    report.set_iteration(iteration);
    report.set_has_final(has_final);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kReport, report).ok());
  }
  // All but `silent` are heard while time passes.
  void PassTime(Duration time, ConnectionId silent = {}) {
    for (Duration at{}; at < time; at += std::chrono::milliseconds(500)) {
      for (const ConnectionId id : {w0, w1, s0, s1}) {
        if (id != silent && world.transport.IsOpen(id)) (void)world.transport.Deliver(id, Kind::kPong, {});
      }
      world.Advance(std::chrono::milliseconds(500));
    }
  }
  nlohmann::json State() { return nlohmann::json::parse(node->StatusJson()); }

  FakeEnv world;
  SchedulerOptions options;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Registry<Placement> placements = BuiltinPlacements();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  std::vector<Status> ended;
  wire::pb::Welcome welcome;
  ConnectionId w0, w1, s0, s1;
  std::unique_ptr<SchedulerNode> node;
};

}  // namespace leeway::testing
