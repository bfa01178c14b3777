#include "node/worker/block_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/heap_arena.h"
#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

// A table of two blocks on the first of two shards.
class BlockMovesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::uint32_t i = 0; i < 2; ++i) ports.Add(links.Make(i + 1, "server 0"), 0);
    (void)*tables.Create({.name = "w", .shape = {4}}, pair);
    table = tables.TakeCreated().at(0);
    ASSERT_TRUE(TableSet::Place(*table, Map(1, 0), 2).ok());
    tables.Index(*table);
    for (WorkerBlock& block : table->blocks) ports.Of(block).AddBlock(block);
  }
  static wire::pb::Table Map(std::uint32_t term, std::uint32_t second_shard) {
    wire::pb::Table map;
    map.set_name("w");
    for (std::uint32_t id = 0; id < 2; ++id) {
      wire::pb::Block* block = map.add_blocks();
      block->set_block(id);
      block->set_shard(id == 0 ? 0 : second_shard);
      block->set_term(id == 0 ? 1 : term);
      block->set_since(id == 0 ? 1 : term);
      block->set_offset(id * 2);
      block->set_elements(2);
    }
    return map;
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  WorkerCounters counters;
  WorkerIdentity self;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  HeapArena arena;
  ParameterPair pair{4, nullptr, nullptr};
  TableSet tables{arena};
  int asked = 0;
  LinkOptions options;
  BlockMoves moves{env.env, options, counters, [this] { ++asked; }};
  WorkerTable* table = nullptr;
};

TEST_F(BlockMovesTest, ABlockThatMovedIsAskedForOnceAfterAPause) {
  moves.OnMoved(table->blocks[1], ports);
  moves.OnMoved(table->blocks[0], ports);
  EXPECT_EQ(asked, 0);
  env.Advance(options.backoff_min);
  EXPECT_EQ(asked, 1);
  table->blocks[1].seen = Term(1);
  const BlockMoves::Asked question = moves.Question(tables);
  EXPECT_THAT(question.tables, ElementsAre(table));
  ASSERT_EQ(question.seen.size(), 1U);
  EXPECT_EQ(question.seen[0].block(), 1U);
}

TEST_F(BlockMovesTest, PausesGrowUntilABlockIsFound) {
  for (int times = 0; times < 3; ++times) {
    moves.OnMoved(table->blocks[1], ports);
    env.Advance(options.backoff_min * (1 << times) - Duration(1));
    EXPECT_EQ(asked, times) << "too early";
    env.Advance(Duration(1));
    EXPECT_EQ(asked, times + 1);
    moves.Answered();
  }
  moves.OnFound();
  moves.OnMoved(table->blocks[1], ports);
  env.Advance(options.backoff_min);
  EXPECT_EQ(asked, 4);
}

TEST_F(BlockMovesTest, AnAnswerPutsABlockAtItsNewShardAndTerm) {
  WorkerBlock& block = table->blocks[1];
  moves.OnMoved(block, ports);
  (void)moves.Question(tables);
  ASSERT_TRUE(BlockMoves::Replace(*table, Map(2, 1), ports).ok());
  EXPECT_EQ(block.shard, ShardId(1));
  EXPECT_EQ(block.term, Term(2));
  EXPECT_TRUE(block.resuming);
  EXPECT_FALSE(block.moved);
  moves.Answered();
  moves.AskForRest(tables);
  env.Advance(options.backoff_max);
  EXPECT_EQ(asked, 1) << "no block is missing";
}

TEST_F(BlockMovesTest, ABlockThatMovedSinceTheQuestionIsAskedForAgain) {
  moves.OnMoved(table->blocks[1], ports);
  env.Advance(options.backoff_min);
  (void)moves.Question(tables);
  moves.OnMoved(table->blocks[0], ports);
  ASSERT_TRUE(BlockMoves::Replace(*table, Map(2, 1), ports).ok());
  EXPECT_TRUE(table->blocks[0].moved);
  moves.Answered();
  moves.AskForRest(tables);
  env.Advance(options.backoff_max);
  EXPECT_EQ(asked, 2);
}

TEST_F(BlockMovesTest, PushesThatWentWithTheOwnerBeforeAreCountedAndLogged) {
  WorkerBlock& block = table->blocks[1];
  for (int i = 0; i < 3; ++i) {
    ports.MarkAbsent(block, Iteration(i));
    (void)block.pushes.MarkSent();
    (void)*ports.Settle(ports.At(0), block, Seq(static_cast<std::uint64_t>(i + 1)));
  }
  block.resuming = true;
  std::vector<std::uint64_t> told;
  moves.SetObserver([&](TableId, BlockId, Term, Seq last) { told.push_back(last.value()); });
  moves.OnResumed(block, Seq(1), ports.At(0), true);
  EXPECT_FALSE(block.resuming);
  EXPECT_EQ(counters.lost, 2U);
  EXPECT_THAT(told, ElementsAre(1U));
  moves.TellLost(ports.At(0));
  moves.TellLost(ports.At(0));
  ASSERT_EQ(env.log.lines.size(), 1U) << "once for all blocks of a shard";
  EXPECT_THAT(env.log.lines[0],
              ::testing::HasSubstr("lost 2 pushes of this worker that it had acknowledged: table "));
  EXPECT_TRUE(moves.TakeLost());
  EXPECT_FALSE(moves.TakeLost());
  moves.OnResumed(block, Seq(0), ports.At(0), false);
  EXPECT_EQ(counters.lost, 2U) << "an observer's are not counted";
}

}  // namespace
}  // namespace leeway
