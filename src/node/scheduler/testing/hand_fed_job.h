// HandFedJob: the members and tables of a small job without a node, for tests of the scheduler's parts.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "checkpoint/manifest.h"
#include "exchange/exchanges.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/table_registry.h"
#include "node/scheduler/testing/hand_fed_actions.h"
#include "node/testing/fake_env.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway::testing {

// Two workers and two servers with a shard each, gathered with epoch 1.
class HandFedJob {
 public:
  explicit HandFedJob(TimePoint now = {}) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      wire::pb::Hello hello;
      hello.set_rank(i);
      hello.set_life(1000 + i);
      EXPECT_TRUE(members.AdmitWorker(hello, HandFedActions::Worker(i), now).ok());
      hello.set_server(i);
      hello.set_listen("box:" + std::to_string(i));
      const auto found = members.FindShard(hello, now, Duration::zero());
      EXPECT_TRUE(found.ok()) << found.status().ToString();
      if (found.ok()) members.Seat(found->seat, hello, HandFedActions::Shard(i), now);
    }
    members.Gather(Epoch(1));
    EXPECT_TRUE(tables.Check().ok());
  }
  static wire::pb::DefineTables Definition(const std::string& name, std::int64_t elements = 4) {
    wire::pb::DefineTables request;
    request.set_request(1);
    wire::pb::Table& table = *request.add_tables();
    table.set_name(name);
    table.add_shape(elements);
    table.set_dtype(1);
    return request;
  }
  void Define(const std::string& name, std::int64_t elements = 4) {
    const auto defined = tables.Define(Definition(name, elements), Epoch(2));
    EXPECT_TRUE(defined.ok()) << defined.status().ToString();
  }
  // Puts a checkpoint without tables into this folder.
  void WriteCheckpoint(FakeStorage& storage, const std::string& folder, std::uint64_t checkpoint) const {
    Manifest manifest;
    manifest.checkpoint = checkpoint;
    manifest.job = options;
    manifest.iteration = Iteration(10);
    manifest.exact = manifest.consistent = true;
    manifest.incarnations.resize(2);
    manifest.begins.assign(2, manifest.iteration);
    const std::string text = WriteManifest(manifest);
    const auto bytes = std::as_bytes(std::span(text));
    storage.files[folder + "/manifest.json"].assign(bytes.begin(), bytes.end());
  }

  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Registry<Placement> placements = BuiltinPlacements();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  SchedulerPolicies policies{sync, optimizers, placements, exchanges};
  JobOptions options = [] {
    JobOptions job;
    job.job = "j";
    job.workers = 2;
    job.servers = 2;
    job.block_bytes = 8;
    return job;
  }();
  Membership members{options};
  TableRegistry tables{options, policies};
};

}  // namespace leeway::testing
