#include "node/worker/shard_intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "exchange/exchanges.h"
#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

// A member with one table "w" of one block, on one shard that is connected.
class ShardIntakeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    self.worker = WorkerId(1);
    self.incarnation = Incarnation(1);
    training.ports().Add(links.Make(1, "server 0 shard 0"), 0);
    links.on_up = [this](std::uint32_t link) { intake.OnUp(training, link - 1); };
    (void)links.Connect(training.ports().At(0).link());
    training.Join();
    w = *training.tables().Create({.name = "w", .shape = {2}}, pair);
    wire::pb::TableMap map;
    *map.add_tables() = Map(1);
    tables = training.tables().TakeCreated();
    ASSERT_TRUE(training.Place(tables, map).ok());
    block = training.tables().FindBlock(BlockId(0));
  }
  static wire::pb::Table Map(std::uint32_t term) {
    wire::pb::Table map;
    map.set_name("w");
    map.set_sync("bsp");
    map.add_blocks()->set_elements(2);
    map.mutable_blocks(0)->set_term(term);
    map.mutable_blocks(0)->set_since(term);
    return map;
  }
  Status Verdict(wire::Verdict verdict, std::uint64_t seq, std::uint32_t id = 0) {
    wire::Verdicts verdicts;
    verdicts.worker = WorkerId(1);
    verdicts.incarnation = Incarnation(1);
    verdicts.entries.push_back({BlockId(id), Term(1), Seq(seq), verdict, Iteration(3)});
    std::vector<std::byte> body;
    wire::Encode(verdicts, body);
    const Status taken = intake.OnVerdicts(training, training.ports().At(0), body, 0);
    due.Run();
    return taken;
  }
  void Push() {
    ASSERT_TRUE(
        training.Push(w, {gradient, nullptr, {}, 1}, [this](const Status& status) { pushed = status; }).ok());
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  Registry<SyncModel> models = BuiltinSyncModels();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  WorkerIdentity self;
  WorkerCounters counters;
  DueCallbacks due;
  Training training{WorkerOptions(),
                    env.env,
                    {.sync = models, .exchanges = exchanges},
                    self,
                    counters,
                    due,
                    {[] {}, [](Iteration) {}, [](bool) {}, [] {}, [] {}}};
  std::unique_ptr<Link> scheduler = links.Make(0, "the scheduler");
  SchedulerRequests requests{env.clock, *scheduler, [](const std::function<void()>&) {}};
  std::optional<Status> failed, pushed;
  int initialized = 0, asked = 0;
  ShardIntake intake{env.env,
                     LinkOptions(),
                     self,
                     counters,
                     due,
                     {.failed = [this](const Status& why) { failed = why; },
                      .initialized = [this] { ++initialized; },
                      .ask = [this] { ++asked; }}};
  ParameterPair pair{2, nullptr, nullptr};
  TableId w;
  std::vector<WorkerTable*> tables;
  WorkerBlock* block = nullptr;
  const std::vector<float> gradient{1, 2};
};

TEST_F(ShardIntakeTest, AVerdictEndsThePushAndTellsTheBlocksIteration) {
  Push();
  ASSERT_TRUE(Verdict(wire::Verdict::kSummed, 1).ok());
  EXPECT_TRUE(pushed.has_value() && pushed->ok());
  EXPECT_EQ(block->told, Iteration(3));
  EXPECT_EQ(counters.summed, 1U);
  EXPECT_THAT(Verdict(wire::Verdict::kSummed, 1, 9).message(), HasSubstr("a verdict for block 9"));
}

TEST_F(ShardIntakeTest, InitialValuesThatAreTakenAreToldToTheNode) {
  training.Broadcast(w, {gradient, nullptr, {}, 1}, [](const Status&) {});
  ASSERT_TRUE(Verdict(wire::Verdict::kInitialized, 0).ok());
  EXPECT_EQ(initialized, 1);
  EXPECT_TRUE(training.settled());
}

TEST_F(ShardIntakeTest, ABlockThatMovedWaitsForItsNewPlaceAndForItsOwnersWord) {
  Push();
  ASSERT_TRUE(Verdict(wire::Verdict::kMoved, 1).ok());
  EXPECT_TRUE(block->moved);
  env.Advance(std::chrono::seconds(10));
  EXPECT_EQ(asked, 1);
  intake.AskForPlaces(training, requests);
  wire::pb::TableMap map;
  map.set_request(1);
  requests.OnTableMap(map);
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(), HasSubstr("a map of 0 tables, wanted 1"));
  failed.reset();
  intake.AskForPlaces(training, requests);
  map.set_request(2);
  *map.add_tables() = Map(2);
  requests.OnTableMap(map);
  EXPECT_FALSE(failed.has_value());
  EXPECT_FALSE(block->moved);
  EXPECT_TRUE(block->resuming);
}

TEST_F(ShardIntakeTest, AShardThatBreaksTheProtocolEndsTheWorkerFromOutsideOfTheCall) {
  FrameHead head;
  head.kind = static_cast<std::uint8_t>(wire::Kind::kAnswers);
  head.payload_bytes = 8;
  const std::vector<std::byte> body(3);
  EXPECT_FALSE(intake.OnFrameStart(training, training.ports().At(0), head, body).ok());
  EXPECT_FALSE(failed.has_value());
  env.Advance(Duration::zero());
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(), HasSubstr("server 0 shard 0"));
}

TEST_F(ShardIntakeTest, AShardThatFencesEndsTheWorker) {
  ASSERT_TRUE(Verdict(wire::Verdict::kFenced, 0).ok());
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(), HasSubstr("server 0 shard 0 fenced worker 1 incarnation 1"));
}

TEST_F(ShardIntakeTest, EveryBlockOfAShardThatWasReplacedHasMoved) {
  intake.OnReplaced(training, 0);
  EXPECT_TRUE(block->moved);
}

}  // namespace
}  // namespace leeway
