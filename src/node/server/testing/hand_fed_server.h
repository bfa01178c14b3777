// HandFedServer: one shard in a fake world. The test is the scheduler and all workers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "node/server/server_node.h"
#include "node/testing/fake_env.h"
#include "node/testing/handshake.h"
#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway::testing {

using wire::Kind;
using wire::Verdict;

class HandFedServer : public ::testing::Test {
 protected:
  void SetUp() override {
    options.job = "j";
    options.server = 1;
    node = std::make_unique<ServerNode>(
        options, world.env, ServerPolicies{sync, optimizers},
        [] { return Result<std::string>(std::string("sched:1")); },
        [this](const Status& why) { ended.push_back(why); });
    ASSERT_TRUE(node->Start().ok());
    GreetScheduler();
  }
  void GreetScheduler() {
    scheduler = world.transport.CompleteConnect();
    hello = ParseAs<wire::pb::Hello>(world.transport.TakeSent(scheduler, Kind::kHello).at(0));
    wire::pb::Welcome greeting;
    greeting.set_version(wire::kVersionMax);
    greeting.set_id(1);
    greeting.mutable_job()->set_seed(3);
    greeting.set_host_key(scheduler_host);
    ASSERT_TRUE(Welcome(world.transport, scheduler, greeting).ok());
  }
  // Members 0 .. n - 1. The ranks in `gone` have left, and the ranks in `dead` have died.
  void SendRoster(std::uint64_t epoch, std::uint32_t n, std::vector<std::uint32_t> gone = {},
                  std::vector<std::uint32_t> dead = {}) {
    wire::pb::Roster roster;
    roster.set_epoch(epoch);
    roster.set_gathered(true);
    for (std::uint32_t i = 0; i < n; ++i) {
      wire::pb::Member& member = *roster.add_members();
      member.set_worker(i);
      member.set_incarnation(1);
      member.set_dead(std::ranges::count(dead, i) > 0);
      member.set_gone(member.dead() || std::ranges::count(gone, i) > 0);
    }
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kRoster, roster).ok());
  }
  // Table 0 with blocks 0, 1, ... of `elements` each; block 1 and every other one after it belong to this
  // shard.
  wire::pb::TableMap Map(const std::string& sync_spec, std::uint32_t blocks, std::uint64_t elements,
                         const std::string& optimizer = "sum") {
    wire::pb::TableMap map;
    map.set_epoch(2);
    wire::pb::Table& table = *map.add_tables();
    table.set_name("w");
    table.add_shape(static_cast<std::int64_t>(blocks * elements));
    table.set_dtype(1);
    table.set_sync(sync_spec);
    table.set_optimizer(optimizer);
    for (std::uint32_t i = 0; i < blocks; ++i) {
      wire::pb::Block& block = *table.add_blocks();
      block.set_block(i);
      block.set_offset(i * elements);
      block.set_elements(elements);
      block.set_shard(i % 2);
      block.set_term(1);
      block.set_since(1);
    }
    return map;
  }
  void SendMap(const wire::pb::TableMap& map) {
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kTableMap, map).ok());
  }
  // Two members and a table of blocks 0 to 3, two elements each: blocks 1 and 3 are here.
  void SetUpTable(const std::string& sync_spec, std::uint32_t members = 2) {
    SendRoster(1, members);
    SendMap(Map(sync_spec, 4, 2));
  }
  ConnectionId HelloWorker(std::uint32_t rank, std::uint32_t incarnation = 1) {
    const ConnectionId id = world.transport.Accept();
    wire::pb::Hello said;
    said.set_version_min(wire::kVersionMin);
    said.set_version_max(wire::kVersionMax);
    said.set_job("j");
    said.set_role(wire::pb::ROLE_WORKER);
    said.set_rank(rank);
    said.set_incarnation(incarnation);
    (void)SayHello(world.transport, id, said);
    welcome = ParseAs<wire::pb::Welcome>(world.transport.TakeSent(id).at(0));
    return id;
  }
  void Init(ConnectionId id, std::uint32_t rank, std::uint32_t block, const std::vector<float>& values) {
    wire::Init init{WorkerId(rank), Incarnation(1), {{BlockId(block), Term(1), Bytes(values.size())}}};
    ASSERT_TRUE(world.transport.DeliverData(id, Kind::kInit, init, values).ok());
  }
  static std::uint32_t Bytes(std::size_t floats) {
    return static_cast<std::uint32_t>(floats * sizeof(float));
  }
  static wire::PushEntry Entry(std::uint32_t block, std::uint64_t seq, std::size_t floats) {
    wire::PushEntry entry;
    entry.block = BlockId(block);
    entry.term = Term(1);
    entry.seq = Seq(seq);
    entry.SetWhole(Bytes(floats));
    return entry;
  }
  Status Push(ConnectionId id, std::uint32_t rank, std::int64_t iteration,
              const std::vector<wire::PushEntry>& entries, const std::vector<float>& payload) {
    wire::Push push;
    push.worker = WorkerId(rank);
    push.incarnation = Incarnation(1);
    push.iteration = Iteration(iteration);
    push.entries = entries;
    return world.transport.DeliverData(id, Kind::kPush, push, payload);
  }
  Status Pull(ConnectionId id, std::uint32_t rank, std::int64_t progress,
              const std::vector<std::uint32_t>& blocks) {
    wire::Pull pull;
    pull.worker = WorkerId(rank);
    pull.incarnation = Incarnation(1);
    for (const std::uint32_t block : blocks) {
      pull.entries.push_back({BlockId(block), Term(1), Iteration(progress), Version(0), 1.0F, Ask(1)});
    }
    return world.transport.DeliverData(id, Kind::kPull, pull);
  }
  // Every verdict sent to `id`, as "block:seq:verdict".
  std::vector<std::string> Verdicts(ConnectionId id) {
    std::vector<std::string> verdicts;
    for (const SentFrame& frame : world.transport.TakeSent(id, Kind::kVerdicts)) {
      for (const auto& entry : DecodeAs<wire::Verdicts>(frame).entries) {
        verdicts.push_back(
            fmt::format("{}:{}:{}", entry.block.value(), entry.seq.value(), Name(entry.verdict)));
      }
    }
    return verdicts;
  }
  static std::string Name(Verdict verdict) {
    switch (verdict) {
      case Verdict::kApplied:
        return "applied";
      case Verdict::kSummed:
        return "summed";
      case Verdict::kAbsent:
        return "absent";
      case Verdict::kRefused:
        return "refused";
      case Verdict::kInitialized:
        return "initialized";
      case Verdict::kMoved:
        return "moved";
      default:
        return std::to_string(static_cast<int>(verdict));
    }
  }
  std::string GoodbyeTo(ConnectionId id) {
    const auto sent = world.transport.TakeSent(id, Kind::kGoodbye);
    return sent.empty() ? "no goodbye" : ParseAs<wire::pb::Goodbye>(sent[0]).message();
  }
  std::vector<float> Values(std::uint32_t block) {
    const std::span<const float> values = node->FindBlock(BlockId(block))->values();
    return {values.begin(), values.end()};
  }

  std::string scheduler_host;  // as its welcome says
  FakeEnv world;
  ServerOptions options;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  std::vector<Status> ended;
  ConnectionId scheduler;
  wire::pb::Hello hello;
  wire::pb::Welcome welcome;
  std::unique_ptr<ServerNode> node;
};

}  // namespace leeway::testing
