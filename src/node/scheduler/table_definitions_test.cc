#include "node/scheduler/table_definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using testing::HandFedActions;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TableDefinitionsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(definitions.tables().Check().ok()); }
  void Define(std::uint64_t rank, const std::string& name) {
    definitions.Define(HandFedActions::Worker(rank), testing::HandFedJob::Definition(name),
                       [](wire::pb::TableMap& reply) {
                         for (wire::pb::Table& table : *reply.mutable_tables()) table.set_first(7);
                       });
  }
  std::vector<wire::pb::TableMap> Maps(ConnectionId to) {
    return actions.Take<wire::pb::TableMap>(to, wire::Kind::kTableMap);
  }
  [[nodiscard]] Status Refuse(std::uint32_t table) {
    wire::pb::EpochAck ack;
    wire::pb::TableRefusal& refusal = *ack.add_refused();
    refusal.set_table(table);
    refusal.set_error("no memory");
    return definitions.TakeRefusals(job.members.shards()[1], ack);
  }

  testing::FakeEnv world;
  testing::HandFedJob job;
  HandFedActions actions{2};
  int made = 0;
  TableDefinitions definitions{job.options, job.policies, LinkOptions().payload_bytes_max,
                               world.log,   actions,      [this] { ++made; }};
};

TEST_F(TableDefinitionsTest, AWorkerHearsOfATableWhenEveryShardHasIt) {
  Define(0, "t");
  EXPECT_THAT(Maps(HandFedActions::Shard(0)), SizeIs(1));
  EXPECT_THAT(Maps(HandFedActions::Shard(1)), SizeIs(1));
  EXPECT_THAT(actions.sent, IsEmpty());
  actions.AckAll();
  const auto maps = Maps(HandFedActions::Worker(0));
  ASSERT_THAT(maps, SizeIs(1));
  EXPECT_EQ(maps[0].error(), "");
  ASSERT_THAT(maps[0].tables(), SizeIs(1));
  EXPECT_EQ(maps[0].tables(0).first(), 7) << "what this worker alone hears";
  EXPECT_EQ(made, 1);
}

TEST_F(TableDefinitionsTest, OneThatAShardRefusesIsWithdrawnAndItsAskerIsToldWhy) {
  Define(0, "t");
  EXPECT_TRUE(Refuse(0).ok());
  (void)Maps(HandFedActions::Shard(0));
  actions.AckAll();
  EXPECT_THAT(definitions.tables().all(), IsEmpty());
  const auto withdrawal = Maps(HandFedActions::Shard(0));
  ASSERT_THAT(withdrawal, SizeIs(1));
  EXPECT_EQ(withdrawal[0].tables_kept(), 0U);
  const auto answers = Maps(HandFedActions::Worker(0));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(answers[0].error(), HasSubstr("server 1 shard 0 at box:1: no memory"));
  EXPECT_EQ(made, 0);
}

TEST_F(TableDefinitionsTest, TheNextDefinitionWaitsUntilTheOneBeforeIsSettled) {
  Define(0, "t");
  Define(1, "u");
  EXPECT_THAT(definitions.tables().all(), SizeIs(1));
  actions.AckAll();
  EXPECT_THAT(definitions.tables().all(), SizeIs(2));
  actions.AckAll();
  EXPECT_THAT(Maps(HandFedActions::Worker(1)), SizeIs(1));
}

TEST_F(TableDefinitionsTest, ARefusalOfATableInUseEndsTheJob) {
  Define(0, "t");
  actions.AckAll();
  EXPECT_FALSE(Refuse(0).ok());
}

TEST_F(TableDefinitionsTest, AfterStopNothingIsWithdrawn) {
  Define(0, "t");
  EXPECT_TRUE(Refuse(0).ok());
  definitions.Stop();
  actions.AckAll();
  EXPECT_THAT(definitions.tables().all(), SizeIs(1));
}

}  // namespace
}  // namespace leeway
