#include "process/client_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/errors.h"
#include "node/worker/use_order.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Iteration kNow{5};
constexpr TableId kJobTable{0}, kOwnTable{1};

class ClientTablesTest : public ::testing::Test {
 protected:
  // As the node creates it, under the next id.
  ParameterPair* Create(const TableSpec& spec) {
    Result<ParameterPair*> pair = tables.MakeBuffers(spec, {});
    EXPECT_TRUE(pair.ok()) << pair.status().ToString();
    EXPECT_TRUE(tables.Add(TableId(created++), spec, **pair).ok());
    return *pair;
  }
  void SetUp() override {
    Create({.name = "w", .shape = {2, 2}});
    Create({.name = "own", .shape = {4}, .clock = TableClock::kOwn});
    tables.OnStarted(Status::Ok());
  }
  Status Check(TableId id) { return tables.CheckPush(id, gradient, {}, kNow).status(); }
  ClientTable& Table(TableId id) { return **tables.FindStarted(id); }

  ClientTables tables;
  std::uint32_t created = 0;
  const std::vector<float> gradient = std::vector<float>(4, 1.0F);
};

TEST_F(ClientTablesTest, ATableIsFoundOnceItIsStarted) {
  Create({.name = "late", .shape = {1}});
  EXPECT_THAT(tables.FindStarted(TableId(2)).status().message(), HasSubstr("\"late\" is not started"));
  tables.OnStarted(InvalidArgument("no such optimizer"));
  EXPECT_THAT(tables.FindStarted(TableId(2)).status().message(),
              HasSubstr("\"late\" was refused: no such optimizer"));
  tables.OnStarted(Status::Ok());
  EXPECT_FALSE(tables.FindStarted(TableId(2)).ok()) << "the next Start is of other tables";
  EXPECT_TRUE(tables.FindStarted(kJobTable).ok());
  EXPECT_EQ(tables.FindStarted(TableId(9)).status().code(), StatusCode::kNotFound);
}

TEST_F(ClientTablesTest, ImpossibleShapesAndOneBufferAreRefused) {
  float one = 0;
  EXPECT_FALSE(tables.MakeBuffers({.name = "t", .shape = {1}}, {&one, nullptr}).ok());
  EXPECT_FALSE(tables.MakeBuffers({.name = "t", .shape = {3, 0}}, {}).ok());
  EXPECT_FALSE(tables.MakeBuffers({.name = "t", .shape = {-1}}, {}).ok());
  EXPECT_FALSE(tables.MakeBuffers({.name = "t", .shape = {1LL << 40, 1LL << 40}}, {}).ok());
}

TEST_F(ClientTablesTest, ATableOfABrokenOffCallIsNoticedByItsId) {
  std::array<float, 2> buffers{};
  const TableSpec spec{.name = "third", .shape = {1}};
  const Result<ParameterPair*> pair = tables.MakeBuffers(spec, {&buffers[0], &buffers[1]});
  ASSERT_TRUE(pair.ok());
  EXPECT_THAT(tables.Add(TableId(3), spec, **pair).message(), HasSubstr("was broken off"));
}

TEST_F(ClientTablesTest, ATableTakesOnePushAnIterationUnlessItHasAClockOfItsOwn) {
  for (const TableId id : {kJobTable, kOwnTable}) {
    EXPECT_TRUE(Check(id).ok());
    tables.MarkPushed(Table(id));
  }
  EXPECT_THAT(Check(kJobTable).message(), HasSubstr("\"w\" was pushed in iteration 5 already"));
  EXPECT_TRUE(Check(kOwnTable).ok());
  tables.OnClock();
  EXPECT_TRUE(Check(kJobTable).ok());
}

TEST_F(ClientTablesTest, ATableThatStartsLaterMayBePushedInTheSameIteration) {
  for (int i = 0; i < 3; ++i) tables.OnClock();
  Create({.name = "late", .shape = {4}});
  tables.OnStarted(Status::Ok());
  EXPECT_TRUE(Check(TableId(2)).ok());
  EXPECT_FALSE(tables.IsSynced(Table(TableId(2))));
}

TEST_F(ClientTablesTest, SeveralPushesAreMarkedTogetherOrNotAtAll) {
  const std::vector<TablePush> twice{{kOwnTable, gradient}, {kJobTable, gradient}, {kJobTable, gradient}};
  EXPECT_THAT(tables.MarkAllPushed(twice, kNow).status().message(), HasSubstr("already"));
  EXPECT_TRUE(Check(kJobTable).ok()) << "its first mark was taken back";
  const Result<ClientTables::Marked> marked = tables.MarkAllPushed(std::span(twice).first(2), kNow);
  ASSERT_TRUE(marked.ok());
  EXPECT_FALSE(Check(kJobTable).ok());
  ClientTables::Unmark(*marked);
  EXPECT_TRUE(Check(kJobTable).ok());
}

TEST_F(ClientTablesTest, AGradientAndItsRoomHaveTheSizeOfTheTable) {
  const ClientTable& table = Table(kJobTable);
  EXPECT_TRUE(table.CheckGradient(gradient, {}).ok());
  EXPECT_THAT(table.CheckGradient(std::span(gradient).first(3), {}).message(),
              HasSubstr("got a gradient of 3 values, wanted 4"));
  EXPECT_THAT(table.CheckGradient(gradient, {.samples = 0}).message(), HasSubstr("0 samples"));
  EXPECT_TRUE(table.CheckRoom(gradient).ok());
  EXPECT_THAT(table.CheckRoom({}).message(), HasSubstr("got room for 0 values, wanted 4"));
}

TEST_F(ClientTablesTest, ASyncHoldsUntilTheNextClockOrTheFinalValues) {
  ClientTable& table = Table(kJobTable);
  EXPECT_FALSE(tables.IsSynced(table));
  tables.MarkSynced(kJobTable, table);
  EXPECT_TRUE(tables.IsSynced(table));
  tables.OnClock();
  EXPECT_FALSE(tables.IsSynced(table));
  tables.MarkSynced(kJobTable, table);
  tables.OnFinalValues();
  EXPECT_FALSE(tables.IsSynced(table));
}

TEST_F(ClientTablesTest, TheFirstIterationsTellWhichTablesTheyUsed) {
  ClientTable& table = Table(kJobTable);
  for (int i = 0; i < UseOrder::kIterations; ++i) {
    tables.MarkSynced(kJobTable, table);
    EXPECT_THAT(tables.TakeUses(), ElementsAre(kJobTable)) << i;
    tables.OnClock();
  }
  tables.MarkSynced(kJobTable, table);
  EXPECT_TRUE(tables.TakeUses().empty()) << "told before";
}

TEST_F(ClientTablesTest, ATableIsReadyWithTheValuesOfTheIterationBefore) {
  ParameterPair* pair = Create({.name = "late", .shape = {1}});
  EXPECT_FALSE(tables.Ready(TableId(2), Iteration(0)));
  pair->Publish(Iteration(-1));
  EXPECT_TRUE(tables.Ready(TableId(2), Iteration(0)));
  EXPECT_FALSE(tables.Ready(TableId(2), Iteration(1)));
  EXPECT_FALSE(tables.Ready(TableId(9), Iteration(0)));
}

}  // namespace
}  // namespace leeway
