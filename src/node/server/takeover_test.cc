#include "node/server/takeover.h"

#include <gtest/gtest.h>

#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

class NoEvents final : public BlockEvents {
 public:
  void OnVerdict(BlockId, Term, MemberKey, Seq, Verdict, Iteration) override {}
  void OnAnswer(BlockId, Term, MemberKey, const BlockAnswer&) override {}
  void OnResumed(BlockId, Term, MemberKey, Seq, Iteration) override {}
  void OnWakeAt(BlockId, TimePoint) override {}
  void OnReached(BlockId) override {}
};

class TakeoverTest : public ::testing::Test {
 protected:
  // Workers 0, 1 and 2. Worker 2 joins; worker `gone` has left.
  void SetRoster(std::uint64_t epoch, int gone = -1) {
    wire::pb::Roster members;
    members.set_epoch(epoch);
    for (int i = 0; i < 3; ++i) {
      wire::pb::Member& member = *members.add_members();
      member.set_worker(static_cast<std::uint32_t>(i));
      member.set_incarnation(1);
      member.set_gone(i == gone);
      member.set_joining(i == 2);
    }
    ASSERT_TRUE(roster.Take(members));
  }
  std::unique_ptr<Block> MakeBlock(std::uint32_t id) {
    BlockOptions options;
    options.id = BlockId(id);
    options.term = Term(2);
    options.elements = 1;
    return std::make_unique<Block>(options, *sync, **optimizer, pool, events);
  }
  void Hear(const Block& block, std::uint32_t worker, Term term = Term(2)) {
    takeover.Hear(block, term, {WorkerId(worker), Incarnation(1)});
  }

  Registry<SyncModel> models = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Result<SyncPolicy> sync = MakeSyncPolicy(models, "bsp");
  Result<OptimizerPtr> optimizer = optimizers.MakeFromSpec("sum");
  BufferPool pool{0};
  NoEvents events;
  Roster roster;
  Takeover takeover;
};

TEST_F(TakeoverTest, AJoinerIsKnownOnlyToABlockThatCountedItBefore) {
  const auto block = MakeBlock(1);
  SetRoster(1);
  takeover.Begin(BlockId(1));
  EXPECT_EQ(takeover.Known(*block, roster.members(), roster).size(), 2U);
  // The checkpoint of a block may count a joining worker. Without the worker its life would end in the block.
  block->OnMembers(Epoch(1), roster.members(), TimePoint{});
  EXPECT_EQ(takeover.Known(*block, roster.members(), roster).size(), 3U);
}

TEST_F(TakeoverTest, IsSettledWhenEveryBlockHasHeardOfEveryoneThatHasAPlace) {
  const auto one = MakeBlock(1), two = MakeBlock(2);
  SetRoster(1);
  takeover.Begin(BlockId(1));
  takeover.Begin(BlockId(2));
  EXPECT_FALSE(takeover.IsSettled(roster));
  Hear(*one, 0);
  Hear(*one, 1);
  Hear(*two, 0);
  EXPECT_FALSE(takeover.IsSettled(roster));
  Hear(*two, 1, Term(1));
  EXPECT_FALSE(takeover.IsSettled(roster)) << "said to the owner before";
  Hear(*two, 1);
  EXPECT_TRUE(takeover.IsSettled(roster));
  EXPECT_TRUE(takeover.empty());
}

TEST_F(TakeoverTest, WhoeverIsGoneIsNotWaitedForAnyMore) {
  const auto one = MakeBlock(1);
  SetRoster(1);
  takeover.Begin(BlockId(1));
  Hear(*one, 0);
  EXPECT_FALSE(takeover.IsSettled(roster)) << "it lacks worker 1";
  SetRoster(2, 1);
  EXPECT_TRUE(takeover.IsSettled(roster));
}

TEST_F(TakeoverTest, ABlockThatIsTakenOverLaterIsWaitedForToo) {
  const auto one = MakeBlock(1), two = MakeBlock(2);
  SetRoster(1);
  takeover.Begin(BlockId(2));
  Hear(*two, 0);
  EXPECT_FALSE(takeover.IsSettled(roster));
  takeover.Begin(BlockId(1));
  Hear(*two, 1);
  EXPECT_FALSE(takeover.IsSettled(roster));
  Hear(*one, 0);
  Hear(*one, 1);
  EXPECT_TRUE(takeover.IsSettled(roster));
}

}  // namespace
}  // namespace leeway
