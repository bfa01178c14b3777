// A shard under rules: which model its blocks have, and what a switch does to those that are here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/server/table_reports.h"
#include "node/server/testing/hand_fed_server.h"

namespace leeway {
namespace {

using testing::DecodeAs;
using ::testing::ElementsAre;
using testing::HandFedServer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ParseAs;
using testing::SentFrame;
using ::testing::SizeIs;
using wire::Kind;

class ServerSwitchTest : public HandFedServer {
 protected:
  // The table of SetUpTable under another model, from `epoch` on.
  void SwitchTo(const std::string& sync_spec, std::uint64_t epoch, const std::string& apply = "") {
    wire::pb::TableMap map = Map(sync_spec, 4, 2);
    map.set_epoch(epoch);
    map.mutable_tables(0)->set_apply(apply);
    SendMap(map);
  }
  std::vector<std::uint64_t> Acked() {
    std::vector<std::uint64_t> epochs;
    for (const SentFrame& frame : world.transport.TakeSent(scheduler, Kind::kEpochAck)) {
      epochs.push_back(ParseAs<wire::pb::EpochAck>(frame).epoch());
    }
    return epochs;
  }
  // All blocks have values. Worker 0 has sent iteration 0 of blocks 1 and 3, and waits for them.
  void BeginAndWait(const std::string& sync_spec) {
    SetUpTable(sync_spec);
    w0 = HelloWorker(0);
    w1 = HelloWorker(1);
    for (const std::uint32_t block : {1U, 3U}) Init(w0, 0, block, {0, 0});
    ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2), Entry(3, 1, 2)}, {1, 1, 1, 1}).ok());
    ASSERT_TRUE(Pull(w0, 0, 0, {1, 3}).ok());
    world.transport.sent.clear();
  }
  std::size_t Answers(ConnectionId id) {
    std::size_t answers = 0;
    for (const SentFrame& frame : world.transport.TakeSent(id, Kind::kAnswers)) {
      answers += DecodeAs<wire::Answers>(frame).entries.size();
    }
    return answers;
  }
  wire::pb::Report LastReport() {
    world.Advance(std::chrono::seconds(1));
    const auto reports = world.transport.TakeSent(scheduler, Kind::kReport);
    EXPECT_FALSE(reports.empty());
    return ParseAs<wire::pb::Report>(reports.back());
  }

  ConnectionId w0, w1;
};

TEST_F(ServerSwitchTest, AMapThatChangesNothingOfATableMakesNoModel) {
  int made = 0;
  sync.Add("counted", [&made](const PolicyConfig&) {
    ++made;
    return BuiltinSyncModels().MakeFromSpec("bsp");
  });
  SetUpTable("counted");
  EXPECT_EQ(made, 1);
  SwitchTo("counted", 7);
  EXPECT_EQ(made, 1);
  SwitchTo("counted:late=apply", 8);
  EXPECT_EQ(made, 2);
}

TEST_F(ServerSwitchTest, ThisServersOwnModelWinsOverThatOfMost) {
  wire::pb::TableMap map = Map("bsp", 4, 2);
  wire::pb::ServerSync& other = *map.mutable_tables(0)->add_of_servers();
  other.set_server(0);
  other.set_sync("drop:1");
  wire::pb::ServerSync& mine = *map.mutable_tables(0)->add_of_servers();
  mine.set_server(1);  // as the options of the shard say
  mine.set_sync("ssp:3");
  SendRoster(1, 2);
  SendMap(map);
  EXPECT_EQ(node->FindBlock(BlockId(1))->sync().resolved.name, "ssp");
  EXPECT_FALSE(node->FindBlock(BlockId(1))->aggregates());
}

TEST_F(ServerSwitchTest, ASwitchActsAtOnceOnPullsThatWait) {
  BeginAndWait("bsp");
  SwitchTo("asp", 5);
  EXPECT_EQ(Answers(w0), 2U);
  EXPECT_THAT(Acked(), ElementsAre(5U));
  EXPECT_EQ(node->FindBlock(BlockId(3))->sync().resolved.name, "asp");
}

TEST_F(ServerSwitchTest, TheSameModelAgainChangesNothing) {
  BeginAndWait("bsp");
  SwitchTo("bsp", 5);
  EXPECT_EQ(Answers(w0), 0U);
  EXPECT_THAT(Acked(), ElementsAre(5U));
  EXPECT_EQ(LastReport().values().at("switches"), 0);
}

TEST_F(ServerSwitchTest, ManySwitchesBackAndForthLoseNoPush) {
  BeginAndWait("bsp");
  std::uint64_t epoch = 5;
  for (const char* model : {"ssp:2", "drop:2", "pssp:1,0.5", "psp:2,10", "asp", "dssp:1,3", "bsp"}) {
    SwitchTo(model, epoch++);
    EXPECT_THAT(ended, IsEmpty()) << model;
  }
  ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2), Entry(3, 1, 2)}, {2, 2, 2, 2}).ok());
  EXPECT_EQ(node->FindBlock(BlockId(1))->v_train(), Iteration(1));
  const wire::pb::Report report = LastReport();
  EXPECT_EQ(report.values().at("applied") + report.values().at("summed"), 4);
  for (const std::uint32_t block : {1U, 3U}) {
    EXPECT_EQ(Values(block), (std::vector<float>{3, 3}))
        << block << ": 1 of worker 0, 2 of worker 1, once each";
  }
}

TEST_F(ServerSwitchTest, AModelThatThisBuildDoesNotKnowEndsTheShardAndSaysWhich) {
  BeginAndWait("bsp");
  SwitchTo("nonsense", 5);
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_THAT(ended[0].message(), HasSubstr("table \"w\""));
  EXPECT_THAT(ended[0].message(), HasSubstr("nonsense"));
}

TEST_F(ServerSwitchTest, ReportsSayHowEachTableStands) {
  BeginAndWait("bsp");
  const wire::pb::Report report = LastReport();
  ASSERT_THAT(report.tables(), SizeIs(1));
  const wire::pb::TableReport& row = report.tables(0);
  EXPECT_EQ(row.table(), 0U);
  EXPECT_EQ(row.blocks(), 2U);
  EXPECT_EQ(row.v_train_min(), 0);
  EXPECT_EQ(row.v_train_max(), 0);
  EXPECT_EQ(row.fastest(), 0);
  EXPECT_EQ(row.slowest(), -1);
  EXPECT_EQ(row.waiting(), 2U);
  EXPECT_THAT(row.waiting_for(), HasSubstr("lacks worker 1"));
  EXPECT_THAT(row.missing(), ElementsAre(1U));
  EXPECT_EQ(row.dpr(), 1U) << "once for a worker and an iteration, however many blocks";
  EXPECT_EQ(report.values().at("dpr"), 1);
  EXPECT_EQ(report.values().at("dpr.0"), 1) << "of worker 0";
  EXPECT_EQ(node->dprs(), 1U) << "the server's own line says the same";
  ASSERT_EQ(row.model(), 1U);
  ASSERT_THAT(report.models(), SizeIs(1));
  EXPECT_EQ(report.models(0).sync(), "bsp");
  SwitchTo("ssp:3", 5, "immediate");
  const wire::pb::Report after = LastReport();
  ASSERT_EQ(after.tables(0).model(), 1U);
  EXPECT_EQ(after.models(0).sync(), "ssp:3");
  EXPECT_EQ(after.models(0).apply(), "immediate");
}

TEST_F(ServerSwitchTest, WhatWasWaitedForIsInTheFigures) {
  BeginAndWait("bsp");
  world.Advance(std::chrono::milliseconds(500));
  ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2), Entry(3, 1, 2)}, {2, 2, 2, 2}).ok());
  const wire::pb::Report report = LastReport();
  EXPECT_DOUBLE_EQ(report.values().at("waited_for.1"), 1.0) << "half a second in each of two blocks";
  EXPECT_DOUBLE_EQ(report.values().at("delayed_wait_s"), 1.0);
  EXPECT_EQ(report.values().at("lead_read.0"), 2);
  EXPECT_DOUBLE_EQ(report.tables(0).waited_s(), 1.0);
}

TEST_F(ServerSwitchTest, ManyTablesAreReportedInFewRows) {
  SendRoster(1, 2);
  wire::pb::TableMap map;
  map.set_epoch(2);
  for (std::uint32_t i = 0; i < TableReports::kRowsMax + 10; ++i) {
    wire::pb::Table& table = *map.add_tables();
    table = Map("bsp", 1, 2).tables(0);
    table.set_id(i);
    table.set_name("t" + std::to_string(i));
    table.mutable_blocks(0)->set_block(i);
    table.mutable_blocks(0)->set_shard(1);
  }
  SendMap(map);
  const wire::pb::Report report = LastReport();
  ASSERT_THAT(report.tables(), SizeIs(TableReports::kRowsMax + 1));
  EXPECT_EQ(report.tables(0).more_tables(), 0U);
  EXPECT_EQ(report.tables(TableReports::kRowsMax).more_tables(), 10U);
  EXPECT_EQ(report.tables(TableReports::kRowsMax).blocks(), 10U);
}

}  // namespace
}  // namespace leeway
