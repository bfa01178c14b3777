#include "node/worker/final_values.h"

#include <gtest/gtest.h>

#include "base/heap_arena.h"
#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

// A table "w" of the job's clock and a table "c" with its own, of one block each.
class FinalValuesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ports.Add(links.Make(1, "server"), 0);
    w = &Placed({.name = "w", .shape = {2}}, w_pair, 0);
    c = &Placed({.name = "c", .shape = {2}, .clock = TableClock::kOwn}, c_pair, 1);
    c->pushed = Iteration(6);
  }
  WorkerTable& Placed(const TableSpec& spec, ParameterPair& pair, std::uint32_t id) {
    (void)*tables.Create(spec, pair);
    WorkerTable& table = *tables.TakeCreated().at(0);
    wire::pb::Table map;
    map.set_name(spec.name);
    wire::pb::Block* block = map.add_blocks();
    block->set_block(id);
    block->set_elements(2);
    EXPECT_TRUE(TableSet::Place(table, map, 1).ok());
    tables.Index(table);
    ports.At(0).AddBlock(table.blocks[0]);
    return table;
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  DueCallbacks due;
  WorkerCounters counters;
  WorkerIdentity self;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  OwnPulls own{env.clock, due};
  HeapArena arena;
  ParameterPair w_pair{2, nullptr, nullptr}, c_pair{2, nullptr, nullptr};
  TableSet tables{arena};
  WorkerTable *w = nullptr, *c = nullptr;
  FinalValues final_values;
};

TEST_F(FinalValuesTest, AreHereOnceTablesOfBothClocksHaveThem) {
  EXPECT_FALSE(final_values.asked());
  int shown = 0;
  final_values.Pull(tables, Iteration(4), env.clock.now, ports, own, [&shown] { ++shown; });
  EXPECT_TRUE(final_values.asked());
  EXPECT_EQ(w->blocks[0].pull.progress(), Iteration(5)) << "above every progress asked before";
  EXPECT_EQ(c->blocks[0].pull.progress(), Iteration(7));
  w->landing.Arrived(0, Iteration(5), Version(2), w->landing.Begin(0).staged);
  ASSERT_TRUE(w->landing.PublishIfWhole(Iteration(5)));
  EXPECT_FALSE(final_values.Have(tables)) << "the own-clock table lacks them";
  own.OnAnswer(*c, true, ports);
  due.Run();
  EXPECT_EQ(shown, 1);
  EXPECT_EQ(c_pair.ready(), Iteration(5));
  EXPECT_TRUE(final_values.Have(tables));
}

TEST_F(FinalValuesTest, ATableThatNeverGotValuesEndsAsItIs) {
  final_values.Pull(tables, Iteration(4), env.clock.now, ports, own, [] {});
  own.OnAnswer(*c, false, ports);
  due.Run();
  EXPECT_EQ(c_pair.ready(), Iteration(5));
}

}  // namespace
}  // namespace leeway
