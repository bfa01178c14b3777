#include "node/worker/table_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/heap_arena.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

class TableSetTest : public ::testing::Test {
 protected:
  // A table of two blocks of two elements each, with these ids.
  WorkerTable& Placed(const TableSpec& spec, ParameterPair& pair, std::uint32_t first, std::uint32_t second) {
    const TableId id = *tables.Create(spec, pair);
    WorkerTable& table = *tables.TakeCreated().at(0);
    EXPECT_EQ(table.id, id);
    EXPECT_TRUE(TableSet::Place(table, Map(spec.name, first, second), 1).ok());
    tables.Index(table);
    return table;
  }
  static wire::pb::Table Map(const std::string& name, std::uint32_t first, std::uint32_t second) {
    wire::pb::Table map;
    map.set_name(name);
    for (const std::uint32_t id : {first, second}) {
      wire::pb::Block* block = map.add_blocks();
      block->set_block(id);
      block->set_term(1);
      block->set_since(1);
      block->set_offset(map.blocks_size() == 1 ? 0 : 2);
      block->set_elements(2);
    }
    return map;
  }

  HeapArena arena;
  TableSet tables{arena};
  ParameterPair w{4, nullptr, nullptr}, u{4, nullptr, nullptr}, c{4, nullptr, nullptr};
};

TEST_F(TableSetTest, NamesShapesAndBuffersAreChecked) {
  EXPECT_THAT(tables.Create({.name = "", .shape = {4}}, w).status().message(), HasSubstr("needs a name"));
  EXPECT_THAT(tables.Create({.name = "w", .shape = {0}}, w).status().message(), HasSubstr("dimension 0"));
  EXPECT_THAT(tables.Create({.name = "w", .shape = {1LL << 62, 8}}, w).status().message(),
              HasSubstr("more elements than can be counted"));
  EXPECT_THAT(tables.Create({.name = "w", .shape = {5}}, w).status().message(),
              HasSubstr("buffers of 4 elements, wanted 5"));
  EXPECT_TRUE(tables.Create({.name = "w", .shape = {4}}, w).ok());
  EXPECT_THAT(tables.Create({.name = "w", .shape = {4}}, u).status().message(), HasSubstr("created before"));
}

TEST_F(TableSetTest, OnlyAPlacedTableIsFound) {
  EXPECT_THAT(tables.FindPlaced(TableId(0)).status().message(), HasSubstr("no table 0; 0 were created"));
  const TableId id = *tables.Create({.name = "w", .shape = {4}}, w);
  EXPECT_THAT(tables.FindPlaced(id).status().message(), HasSubstr("call Start first"));
  WorkerTable& table = *tables.TakeCreated().at(0);
  EXPECT_TRUE(tables.TakeCreated().empty()) << "asked for once";
  table.state = WorkerTable::State::kRefused;
  table.refusal = NotFound("no optimizer \"x\"");
  EXPECT_THAT(tables.FindPlaced(id).status().message(), HasSubstr("was refused: no optimizer \"x\""));
  EXPECT_TRUE(TableSet::Place(table, Map("w", 0, 1), 1).ok());
  EXPECT_EQ(*tables.FindPlaced(id), &table);
}

TEST_F(TableSetTest, AMapOfBlocksThatMoveIsRefused) {
  (void)*tables.Create({.name = "w", .shape = {4}}, w);
  WorkerTable& table = *tables.TakeCreated().at(0);
  wire::pb::Table map = Map("w", 0, 1);
  map.mutable_blocks(1)->set_term(3);
  EXPECT_THAT(TableSet::Place(table, map, 1).message(),
              HasSubstr("block 1 of the map: since: got term 1, wanted its term 3"));
  map.mutable_blocks(0)->set_plan(9);
  EXPECT_THAT(TableSet::Place(table, map, 1).message(),
              HasSubstr("block 0 of the map: plan: got 9, wanted 0"));
}

TEST_F(TableSetTest, BlocksAreFoundByIdOnceIndexed) {
  const WorkerTable& table = Placed({.name = "w", .shape = {4}}, w, 5, 2);
  EXPECT_EQ(tables.FindBlock(BlockId(5)), &table.blocks[0]);
  EXPECT_EQ(tables.FindBlock(BlockId(2)), &table.blocks[1]);
  EXPECT_EQ(tables.FindBlock(BlockId(3)), nullptr);
  EXPECT_EQ(tables.FindBlock(BlockId(6)), nullptr);
  EXPECT_EQ(tables.FindBlockThat([](const WorkerBlock& block) { return block.offset == 0; }),
            &table.blocks[0]);
  EXPECT_EQ(tables.FindBlockThat([](const WorkerBlock& block) { return block.moved; }), nullptr);
}

TEST_F(TableSetTest, AnIdBeyondAllReasonIsRefusedBeforeItIsAnIndex) {
  (void)*tables.Create({.name = "w", .shape = {4}}, w);
  WorkerTable& table = *tables.TakeCreated().at(0);
  EXPECT_THAT(TableSet::Place(table, Map("w", 0, 1U << 30), 1).message(), HasSubstr("block id 1073741824"));
}

TEST_F(TableSetTest, BytesAreSummedByClock) {
  const WorkerTable& job = Placed({.name = "w", .shape = {4}}, w, 0, 1);
  (void)Placed({.name = "u", .shape = {4}}, u, 2, 3);
  const WorkerTable& own = Placed({.name = "c", .shape = {4}, .clock = TableClock::kOwn}, c, 4, 5);
  EXPECT_EQ(tables.BytesLikeThis(job), 32U);
  EXPECT_EQ(tables.BytesLikeThis(own), 16U);
  int job_clock = 0;
  tables.ForEachJobClock([&](const WorkerTable&) { ++job_clock; });
  EXPECT_EQ(job_clock, 2);
}

TEST_F(TableSetTest, AnIterationOfOneGroupIsIdleInTheOthers) {
  const WorkerTable& one = Placed({.name = "w", .shape = {4}}, w, 0, 1);
  const WorkerTable& other = Placed({.name = "u", .shape = {4}, .group = 1}, u, 2, 3);
  tables.NoteIdle(0, Iteration(3));
  EXPECT_EQ(one.CountOwn(Iteration(0), Iteration(3)), 4);
  EXPECT_EQ(other.CountOwn(Iteration(0), Iteration(3)), 3);
}

TEST_F(TableSetTest, TheOldestPushOfTheJobsClockBoundsWhatIsSettled) {
  WorkerTable& job = Placed({.name = "w", .shape = {4}}, w, 0, 1);
  WorkerTable& own = Placed({.name = "c", .shape = {4}, .clock = TableClock::kOwn}, c, 2, 3);
  EXPECT_EQ(tables.SettledBefore(Iteration(9)), Iteration(9));
  job.blocks[0].pushes.AppendAbsent(Iteration(6), false);
  job.blocks[1].pushes.AppendAbsent(Iteration(5), false);
  own.blocks[0].pushes.AppendAbsent(Iteration(1), false);
  EXPECT_EQ(tables.SettledBefore(Iteration(9)), Iteration(5));
}

TEST_F(TableSetTest, KnowsWhetherATableHoldsASum) {
  WorkerTable& table = Placed({.name = "w", .shape = {4}}, w, 0, 1);
  EXPECT_FALSE(tables.HoldsSums());
  const std::vector<float> gradient(4, 1.0F);
  table.sum.Add({gradient, nullptr, {}, 1}, tables.pool());
  EXPECT_TRUE(tables.HoldsSums());
}

}  // namespace
}  // namespace leeway
