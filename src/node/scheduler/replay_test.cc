// Each module of the scheduler goes into the log and back: by its changes, one after another, and as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exchange/exchanges.h"
#include "node/control_frame.h"
#include "node/scheduler/barriers.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/checkpoints.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/table_registry.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kBefore{seconds(1000)};
constexpr TimePoint kAfter{seconds(9000)};

template <typename Module>
wire::pb::LogRecord ChangesOf(Module& module) {
  wire::pb::LogRecord record;
  const bool changed = module.AddChanges(record);
  EXPECT_EQ(changed, record.ByteSizeLong() > 0);
  return record;
}
template <typename Module>
std::vector<std::byte> WholeOf(const Module& module) {
  wire::pb::LogRecord record;
  module.AddAll(record);
  return ControlBody(record);
}

class MembershipReplayTest : public ::testing::Test {
 protected:
  static JobOptions Job() {
    JobOptions job;
    job.workers = 3;
    job.servers = 2;
    return job;
  }
  WorkerSeat& Come(std::int64_t rank, std::uint64_t life) {
    wire::pb::Hello hello;
    hello.set_rank(rank);
    hello.set_life(life);
    hello.set_host("box");
    hello.set_pid(42);
    auto admitted = members.AdmitWorker(hello, ConnectionId(life), kBefore);
    EXPECT_TRUE(admitted.ok()) << admitted.status().ToString();
    Note();
    return admitted->seat;
  }
  void ComeShard(std::uint32_t server) {
    wire::pb::Hello hello;
    hello.set_server(server);
    hello.set_life(100 + server);
    hello.set_listen("127.0.0.1:70");
    const auto found = members.FindShard(hello, kBefore, Duration::zero());
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    members.Seat(found->seat, hello, ConnectionId(200 + server), kBefore);
    Note();
  }
  // Applies the changes to the other object, which then is the same.
  void Note() {
    ASSERT_TRUE(replayed.Apply(ChangesOf(members), kAfter).ok());
    EXPECT_EQ(WholeOf(replayed), WholeOf(members));
    EXPECT_FALSE(members.AddChanges(unused)) << "told once";
  }

  Membership members{Job()};
  Membership replayed{Job()};
  wire::pb::LogRecord unused;
};

TEST_F(MembershipReplayTest, EveryChangeOfALifeIsReplayed) {
  for (std::int64_t rank = 0; rank < 3; ++rank) Come(rank, 10 + rank);
  ComeShard(0);
  ComeShard(1);
  members.Gather(Epoch(1));
  Note();
  EXPECT_EQ(ControlBody(replayed.BuildRoster()), ControlBody(members.BuildRoster()));
  members.Leave(members.workers()[0], Epoch(2), true);
  Note();
  EXPECT_TRUE(replayed.BuildRoster().members(0).finished());
  members.workers()[0].done = true;
  Note();
  members.Die(members.workers()[1], Epoch(3));
  Note();
  members.Lose(members.workers()[2], kBefore);
  Note();
  members.workers()[2].connection = {};
  WorkerSeat& late = Come(2, 77);
  members.Enter(late, Epoch(4), Iteration(12));
  Note();
  wire::pb::First first;
  first.set_worker(2);
  first.set_incarnation(late.incarnation.value());
  first.set_own_clock(true);
  first.set_table(5);
  first.set_first(30);
  members.TakeFirst(first);
  Note();
  EXPECT_EQ(replayed.workers()[2].own_firsts, members.workers()[2].own_firsts);
  EXPECT_TRUE(replayed.workers()[2].joining);
  late.joining = false;
  Note();
}

TEST_F(MembershipReplayTest, NobodyIsConnectedAndEverybodyWasHeardOfNow) {
  for (std::int64_t rank = 0; rank < 3; ++rank) Come(rank, 10 + rank);
  ComeShard(0);
  ComeShard(1);
  members.Gather(Epoch(1));
  const Patience patience{seconds(3), seconds(10), seconds(60)};
  EXPECT_EQ(members.Review(kBefore + seconds(5), patience).suspected.size(), 3U);
  EXPECT_FALSE(members.AddChanges(unused) && unused.workers_size() > 0)
      << "who is suspect is not for the log";
  wire::pb::LogRecord whole;
  members.AddAll(whole);
  Membership fresh{Job()};
  ASSERT_TRUE(fresh.Apply(whole, kAfter).ok());
  const Silence silence = fresh.Review(kAfter + seconds(2), patience);
  EXPECT_THAT(silence.expelled, IsEmpty());
  EXPECT_THAT(silence.lost, IsEmpty());
  EXPECT_FALSE(fresh.Complete());
  wire::pb::Hello hello;
  hello.set_rank(-1);
  hello.set_life(11);
  const auto back = fresh.AdmitWorker(hello, ConnectionId(5), kAfter);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->seat.rank, WorkerId(1)) << "a life finds its seat";
  EXPECT_FALSE(back->fresh);
}

TEST_F(MembershipReplayTest, WhatDoesNotFitTheJobIsAnError) {
  wire::pb::LogRecord record;
  record.add_workers()->set_rank(3);
  EXPECT_THAT(replayed.Apply(record, kAfter).message(), HasSubstr("worker 3, wanted one of 3"));
  record.Clear();
  record.add_workers()->set_state(99);
  EXPECT_THAT(replayed.Apply(record, kAfter).message(), HasSubstr("in state 99"));
  record.Clear();
  record.add_shards()->set_shard(2);
  EXPECT_THAT(replayed.Apply(record, kAfter).message(), HasSubstr("shard 2, wanted one of 2"));
}

class TableReplayTest : public ::testing::Test {
 protected:
  TableReplayTest() {
    job.servers = 2;
    job.block_bytes = 64;
  }
  std::unique_ptr<TableRegistry> Make() {
    auto made =
        std::make_unique<TableRegistry>(job, SchedulerPolicies{sync, optimizers, placements, exchanges});
    EXPECT_TRUE(made->Check().ok());
    return made;
  }
  static wire::pb::DefineTables Request(const std::string& name, std::int64_t elements) {
    wire::pb::DefineTables request;
    wire::pb::Table& table = *request.add_tables();
    table.set_name(name);
    table.add_shape(elements);
    table.set_dtype(1);
    return request;
  }

  JobOptions job;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Registry<Placement> placements = BuiltinPlacements();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
};

TEST_F(TableReplayTest, TablesAreReplayedWithTheirBlocks) {
  const auto tables = Make();
  const auto replayed = Make();
  for (const char* name : {"a", "b"}) {
    ASSERT_TRUE(tables->Define(Request(name, 40), Epoch(3)).ok());
    ASSERT_TRUE(replayed->Apply(ChangesOf(*tables)).ok());
  }
  EXPECT_EQ(WholeOf(*replayed), WholeOf(*tables));
  ASSERT_TRUE(tables->Define(Request("a", 40), Epoch(4)).ok());
  EXPECT_EQ(ChangesOf(*tables).tables_size(), 0) << "known";
  // Both go on alike: ids of tables and blocks follow those that are there.
  ASSERT_TRUE(tables->Define(Request("c", 20), Epoch(5)).ok());
  ASSERT_TRUE(replayed->Define(Request("c", 20), Epoch(5)).ok());
  EXPECT_EQ(WholeOf(*replayed), WholeOf(*tables));
  EXPECT_FALSE(replayed->Define(Request("a", 41), Epoch(6)).ok()) << "defined differently";
}

// A log of protocol version 4 has no `since`; every node would refuse the map.
TEST_F(TableReplayTest, ALogWhoseMapNoNodeTakesIsRefused) {
  const auto tables = Make();
  ASSERT_TRUE(tables->Define(Request("a", 40), Epoch(3)).ok());
  wire::pb::LogRecord record = ChangesOf(*tables);
  wire::pb::Block& block = *record.mutable_tables(0)->mutable_table()->mutable_blocks(0);
  block.set_since(0);
  EXPECT_THAT(Make()->Apply(record).message(),
              HasSubstr("table \"a\": block 0 of the map: since: got term 0"));
  block.set_since(1);
  block.set_plan(7);
  EXPECT_THAT(Make()->Apply(record).message(), HasSubstr("plan: got 7"));
}

TEST_F(TableReplayTest, WithdrawnTablesAreGoneAndTheirIdsAreUsedAgain) {
  const auto tables = Make();
  const auto step_by_step = Make();
  ASSERT_TRUE(tables->Define(Request("a", 40), Epoch(3)).ok());
  ASSERT_TRUE(tables->Define(Request("b", 80), Epoch(4)).ok());
  ASSERT_TRUE(step_by_step->Apply(ChangesOf(*tables)).ok());
  tables->Withdraw(1);
  ASSERT_TRUE(tables->Define(Request("c", 20), Epoch(6)).ok());
  EXPECT_EQ(tables->all()[1].map.id(), 1U);
  EXPECT_EQ(tables->all()[1].map.blocks(0).block(),
            static_cast<std::uint32_t>(tables->all()[0].map.blocks_size()));
  ASSERT_TRUE(step_by_step->Apply(ChangesOf(*tables)).ok());
  EXPECT_EQ(WholeOf(*step_by_step), WholeOf(*tables));
  ASSERT_TRUE(tables->Define(Request("d", 20), Epoch(7)).ok());
  tables->Withdraw(2);
  ASSERT_TRUE(step_by_step->Apply(ChangesOf(*tables)).ok()) << "made and withdrawn between two records";
  EXPECT_EQ(WholeOf(*step_by_step), WholeOf(*tables));
  EXPECT_FALSE(tables->Creates(Request("c", 20)));
  EXPECT_TRUE(tables->Creates(Request("b", 80)));
}

TEST_F(TableReplayTest, ATableThatHasChangedTakesThePlaceOfTheOldOne) {
  const auto tables = Make();
  ASSERT_TRUE(tables->Define(Request("a", 40), Epoch(3)).ok());
  wire::pb::LogRecord record = ChangesOf(*tables);
  const auto replayed = Make();
  ASSERT_TRUE(replayed->Apply(record).ok());
  wire::pb::Block& block = *record.mutable_tables(0)->mutable_table()->mutable_blocks(1);
  block.set_term(2);
  block.set_since(2);
  block.mutable_restore()->set_file("/checkpoints/x");
  ASSERT_TRUE(replayed->Apply(record).ok());
  ASSERT_EQ(replayed->all().size(), 1U);
  EXPECT_EQ(replayed->all()[0].map.blocks(1).term(), 2U);
  EXPECT_EQ(replayed->all()[0].map.blocks(1).restore().file(), "/checkpoints/x");
}

TEST_F(TableReplayTest, WhatIsNoTableIsAnError) {
  const auto tables = Make();
  ASSERT_TRUE(tables->Define(Request("a", 40), Epoch(3)).ok());
  const wire::pb::LogRecord good = ChangesOf(*tables);
  const auto error = [&](const std::function<void(wire::pb::Table&)>& spoil) {
    wire::pb::LogRecord record = good;
    spoil(*record.mutable_tables(0)->mutable_table());
    const Status status = Make()->Apply(record);
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  EXPECT_THAT(error([](auto& table) { table.set_id(1); }), HasSubstr("got id 1"));
  EXPECT_THAT(error([](auto& table) { table.set_sync("no such"); }), HasSubstr("no such"));
  EXPECT_THAT(error([](auto& table) { table.mutable_blocks(0)->set_shard(2); }), HasSubstr("on shard 2"));
  EXPECT_THAT(error([](auto& table) { table.mutable_blocks()->RemoveLast(); }), HasSubstr("in its blocks"));
  EXPECT_THAT(error([](auto& table) { table.mutable_blocks(0)->set_elements(99); }),
              HasSubstr("99 elements"));
}

TEST(BarrierReplayTest, RoundsThatAreOverStayOver) {
  Barriers barriers, replayed;
  const std::vector<Barriers::Member> two{{WorkerId(0)}, {WorkerId(1)}};
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (std::uint32_t worker = 0; worker < 2; ++worker) {
      ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(worker), .name = "x", .round = round}).ok());
    }
    EXPECT_EQ(barriers.Released(two).size(), 2U);
    ASSERT_TRUE(replayed.Apply(ChangesOf(barriers)).ok());
    EXPECT_EQ(WholeOf(replayed), WholeOf(barriers));
  }
  // One that has not heard calls again, and one goes on.
  ASSERT_TRUE(replayed.Arrive({.worker = WorkerId(0), .name = "x", .round = 2}).ok());
  EXPECT_EQ(replayed.Released(two).size(), 1U);
  ASSERT_TRUE(replayed.Arrive({.worker = WorkerId(1), .name = "x", .round = 3}).ok());
  EXPECT_THAT(replayed.Released(two), IsEmpty());
}

TEST(BarrierReplayTest, ALateWorkerKeepsItsCount) {
  Barriers barriers, replayed;
  const std::vector<Barriers::Member> members{{WorkerId(0)}, {WorkerId(1), Iteration(2)}};
  for (std::uint64_t round = 1; round <= 5; ++round) {
    ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = round}).ok());
    EXPECT_EQ(barriers.Released(std::span(members).first(1)).size(), 1U);
  }
  ASSERT_TRUE(barriers.Arrive({WorkerId(1), "x", 1, Iteration(9), 3, Iteration(2)}).ok());  // the sixth
  EXPECT_THAT(barriers.Released(members), IsEmpty());
  ASSERT_TRUE(replayed.Apply(ChangesOf(barriers)).ok());
  ASSERT_TRUE(replayed.Arrive({WorkerId(1), "x", 1, Iteration(9), 3, Iteration(2)}).ok());
  ASSERT_TRUE(
      replayed.Arrive({.worker = WorkerId(0), .name = "x", .round = 6, .iteration = Iteration(9)}).ok());
  EXPECT_EQ(replayed.Released(members).size(), 2U);
  barriers.Forget(WorkerId(1));
  EXPECT_EQ(ChangesOf(barriers).barriers_size(), 1);
}

TEST(PoolReplayTest, LeasesAreReplayedOneAfterAnother) {
  BatchPools pools, replayed;
  pools.KeepChanges();
  replayed.KeepChanges();
  wire::pb::LeaseBatches request;
  request.set_pool("p");
  request.set_batches(20);
  request.set_wanted(4);
  std::vector<std::uint64_t> held[2];
  for (std::uint64_t i = 1; i <= 8; ++i) {
    const std::uint32_t worker = i % 2;
    request.set_request(i);
    request.set_iteration(static_cast<std::int64_t>(2 * i));
    request.set_settled(static_cast<std::int64_t>(i));
    request.mutable_used()->Clear();
    for (std::size_t k = 0; k < held[worker].size(); ++k) request.add_used(static_cast<std::int64_t>(i + k));
    request.mutable_done()->Assign(held[worker].begin(), held[worker].end());
    const wire::pb::BatchLease lease = pools.Lend({WorkerId(worker), Incarnation(3)}, request, 2);
    held[worker].assign(lease.batches().begin(), lease.batches().end());
    if (i == 5) pools.Settle({WorkerId(1), Incarnation(3)}, Iteration(11));
    ASSERT_TRUE(replayed.Apply(ChangesOf(pools)).ok());
    ASSERT_EQ(WholeOf(replayed), WholeOf(pools)) << i;
  }
  // A request whose answer was lost gets the same answer from the other.
  const MemberKey life{WorkerId(0), Incarnation(3)};
  EXPECT_EQ(ControlBody(replayed.Lend(life, request, 2)), ControlBody(pools.Lend(life, request, 2)));
  BatchPools fresh;
  wire::pb::LogRecord whole;
  pools.AddAll(whole);
  ASSERT_TRUE(fresh.Apply(whole).ok());
  EXPECT_EQ(WholeOf(fresh), WholeOf(pools));
  EXPECT_FALSE(replayed.AddChanges(whole)) << "what is replayed is no change";
}

TEST(PoolReplayTest, WithoutALogNothingIsKept) {
  BatchPools pools;
  wire::pb::LeaseBatches request;
  request.set_request(1);
  request.set_pool("p");
  request.set_batches(20);
  request.set_wanted(4);
  (void)pools.Lend({WorkerId(0), Incarnation(1)}, request, 2);
  wire::pb::LogRecord record;
  EXPECT_FALSE(pools.AddChanges(record));
}

TEST(PoolReplayTest, WhatIsNoPoolIsAnError) {
  wire::pb::LogRecord record;
  record.add_pools()->set_next(3);
  EXPECT_FALSE(BatchPools().Apply(record).ok());
  record.Clear();
  wire::pb::PoolChange& change = *record.add_pool_changes();
  change.mutable_request()->set_batches(2);
  change.mutable_answer()->add_batches(2);
  EXPECT_THAT(BatchPools().Apply(record).message(), HasSubstr("batch 2, wanted below 2"));
}

TEST(CheckpointReplayTest, NoIdIsGivenTwice) {
  CheckpointOptions options;
  options.folder = "/c";
  options.every_iterations = 5;
  Checkpoints checkpoints(options, 1), replayed(options, 1);
  checkpoints.Start(4, Iteration(0), kBefore);
  EXPECT_EQ(checkpoints.Begin(Iteration(3), RankStates::Moment::kExact, kBefore).checkpoint(), 4U);
  replayed.Apply(ChangesOf(checkpoints));
  replayed.Start(1, Iteration(0), kAfter);  // nothing of it is on the disk yet
  EXPECT_EQ(replayed.Begin(Iteration(3), RankStates::Moment::kExact, kAfter).checkpoint(), 5U);
  EXPECT_FALSE(replayed.last());

  wire::pb::CutReply reply;
  reply.set_checkpoint(4);
  EXPECT_EQ(checkpoints.Take(ShardId(0), reply), Checkpoints::Step::kWritten);
  checkpoints.Complete(Iteration(5), kBefore);
  replayed.Apply(ChangesOf(checkpoints));
  ASSERT_TRUE(replayed.last());
  EXPECT_EQ(replayed.last()->checkpoint, 4U);
  EXPECT_EQ(replayed.last()->folder, "/c/checkpoint-00000004");
  EXPECT_EQ(replayed.last()->iteration, Iteration(5));
}

}  // namespace
}  // namespace leeway
