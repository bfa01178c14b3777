// When pulls are answered: lazy and soft release, ssp:0 against bsp, observers, epochs, versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BlockPullTest, TheFirstPullIsAnsweredAtOnce) {
  for (const char* sync : {"bsp", "asp", "ssp:2"}) {
    HandFedBlock block({.sync = sync});
    block.Begin(2);
    block.Pull(0, -1);
    EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p-1 v0 r1")) << sync;
  }
}

TEST(BlockPullTest, PullsWaitForTheInitialValues) {
  HandFedBlock block;
  block.Join(0, 0).Join(1, 0).Roster();
  block.Pull(1, -1);
  block.Pull(0, -1);
  EXPECT_THAT(block.Heard(), IsEmpty());
  EXPECT_EQ(block->waiting(), 2U);
  EXPECT_THAT(block->WhyWaiting(), HasSubstr("workers 0, 1 wait with progress -1 for initial values"));
  block.Init({5, 6}, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("INITIALIZED 1#0 v0", "ANSWER 0 p-1 v0 r1", "ANSWER 1 p-1 v0 r1"));
  EXPECT_EQ(block->counters().delayed, 0U) << "not a delayed pull: no model said later";
  block.Init({7, 7}, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("INITIALIZED 0#0 v0"));
  EXPECT_THAT(block.values(), ElementsAre(5.0F, 6.0F)) << "the first initial values count";
}

TEST(BlockPullTest, UnderBspAPullWaitsForEveryone) {
  HandFedBlock block;
  block.Begin(3);
  block.Push(0, 0);
  block.Pull(0, 0);
  block.Push(1, 0);
  block.Pull(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v0", "SUMMED 1#1 v0"));
  EXPECT_EQ(block->WhyWaiting(),
            "workers 0, 1 wait with progress 0 for iteration 0 to end, which lacks worker 2");
  EXPECT_THAT(block->Missing(), ElementsAre(WorkerId(2)));
  block.Push(2, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 2#1 v1", "ANSWER 0 p0 v1 r2", "ANSWER 1 p0 v1 r2"))
      << "the pusher hears of its push before anyone hears of the values";
  EXPECT_EQ(block->counters().delayed, 2U);
  EXPECT_EQ(block->waiting(), 0U);
  EXPECT_EQ(block->WhyWaiting(), "");
}

TEST(BlockPullTest, WhatAPullWaitsForIsAsItIsReleased) {
  for (const auto& [sync, why] :
       {std::pair("ssp:2",
                  "worker 0 waits with progress 2 for iteration 2 to end; 0 is open and lacks worker 1"),
        {"ssp:2,release=soft",
         "worker 0 waits with progress 2 for iteration 0 to end, which lacks worker 1"}}) {
    HandFedBlock block({.sync = sync});
    block.Begin(2);
    for (std::int64_t i = 0; i < 3; ++i) block.Push(0, i);
    block.Pull(0, 2);
    EXPECT_EQ(block->WhyWaiting(), why);
  }
}

TEST(BlockPullTest, WhoWaitsIsSaidInAFewWordsHoweverManyTheyAre) {
  HandFedBlock block;
  block.Begin(4000);
  for (std::uint32_t worker = 2000; worker < 4000; ++worker) {
    block.Push(worker, 0);
    block.Pull(worker, 0);
  }
  ASSERT_EQ(block->waiting(), 2000U);
  const std::string why = block->WhyWaiting();
  EXPECT_THAT(why,
              HasSubstr("workers 2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007 and 1992 more wait with "
                        "progress 0 for iteration 0 to end, which lacks workers 0, 1, 2, 3, 4, 5, 6, 7 and "
                        "1992 more"));
  EXPECT_LE(why.size(), 512U);
}

TEST(BlockPullTest, UnderAspNobodyWaits) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  for (int i = 0; i < 5; ++i) {
    block.Push(0, i);
    block.Pull(0, i);
  }
  EXPECT_EQ(block->waiting(), 0U);
  EXPECT_EQ(block->counters().delayed, 0U);
}

// FluentPS, Figure 3. Its s = 3 counts from 1 and is ssp:2 here: worker 0 has pushed iterations 0 to 3 and
// asks for the parameters of the next, worker 2 has pushed iteration 0 only (design, section 5).
class Figure3 {
 public:
  explicit Figure3(const char* sync) : block_({.sync = sync}) {
    block_.Begin(3);
    for (int i = 0; i <= 3; ++i) block_.Push(0, i);
    for (int i = 0; i <= 3; ++i) block_.Push(1, i);
    block_.Push(2, 0);
    block_.Forget();
    block_.Pull(0, 3);
    EXPECT_THAT(block_.Heard(), IsEmpty()) << "3 iterations of worker 2 are missing";
  }
  // How many iterations of the slowest worker it takes until worker 0 is answered.
  int AdvancesUntilAnswered() {
    for (int advances = 1; advances < 10; ++advances) {
      block_.Push(2, advances);
      const std::vector<std::string> heard = block_.Heard();
      if (heard.size() > 1) {
        EXPECT_EQ(heard[1].substr(0, 11), "ANSWER 0 p3");
        return advances;
      }
    }
    return -1;
  }

 private:
  HandFedBlock block_;
};

TEST(BlockPullTest, FluentPsFigure3SoftAnswersAfterOneAdvance) {
  EXPECT_EQ(Figure3("ssp:2,release=soft").AdvancesUntilAnswered(), 1);
}

TEST(BlockPullTest, FluentPsFigure3LazyAnswersAfterThreeAdvances) {
  EXPECT_EQ(Figure3("ssp:2").AdvancesUntilAnswered(), 3);
}

TEST(BlockPullTest, SspZeroIsBspEventByEvent) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    HandFedBlock bsp({.sync = "bsp", .apply = "aggregate"});
    HandFedBlock ssp({.sync = "ssp:0", .apply = "aggregate"});
    std::uint64_t random = seed;
    std::vector<std::int64_t> next(4, 0);
    for (HandFedBlock* block : {&bsp, &ssp}) block->Begin(4);
    for (int event = 0; event < 200; ++event) {
      random = Mix64(random);
      const auto worker = static_cast<std::uint32_t>(random % 4);
      const std::uint64_t what = (random >> 8) % 16;
      // Held within the window, as workers that wait for their pulls are.
      const bool may_send = Iteration(next[worker]) <= bsp->v_train() + 1;
      for (HandFedBlock* block : {&bsp, &ssp}) {
        if (what < 9) {
          if (may_send) block->Push(worker, next[worker]);
        } else if (what < 11) {
          if (may_send) block->Absent(worker, next[worker]);
        } else {
          block->Pull(worker, next[worker] - 1);
        }
      }
      if (what < 11 && may_send) ++next[worker];
      ASSERT_EQ(bsp.Heard(), ssp.Heard()) << "seed " << seed << " event " << event;
    }
    EXPECT_EQ(bsp.values(), ssp.values());
    EXPECT_GT(bsp->v_train(), Iteration(5));
  }
}

TEST(BlockPullTest, AnswersComeInTheOrderOfProgressThenRank) {
  HandFedBlock block({.sync = "ssp:1", .apply = "immediate"});
  block.Begin(4);
  for (int i = 0; i < 3; ++i) block.Push(3, i);
  for (int i = 0; i < 2; ++i) block.Push(2, i);
  for (int i = 0; i < 2; ++i) block.Push(1, i);
  block.Forget();
  block.Pull(3, 2);
  block.Pull(2, 1);
  block.Pull(1, 1);
  EXPECT_THAT(block.Heard(), IsEmpty());
  block.Absent(0, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 0#1 v2", "ANSWER 1 p1 v2 r8", "ANSWER 2 p1 v2 r8"));
}

TEST(BlockPullTest, ANewerPullReplacesTheOneThatWaits) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  block.Pull(0, 0);
  block.Pull(0, 1);
  EXPECT_EQ(block->waiting(), 1U);
  block.Forget();
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1"));
  block.Push(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#2 v2", "ANSWER 0 p1 v2 r3"));
}

TEST(BlockPullTest, APullSentAgainAfterALostConnectionIsTheSameDelayedPull) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 0);
  block->OnDisconnected(HandFedBlock::Key(0));
  EXPECT_EQ(block->waiting(), 0U);
  block.Pull(0, 0);
  EXPECT_EQ(block->waiting(), 1U);
  EXPECT_EQ(block->counters().delayed, 1U);
  block->OnDisconnected(HandFedBlock::Key(0, 2));
  EXPECT_EQ(block->waiting(), 1U) << "another life's connection";
}

TEST(BlockPullTest, WhatTheWorkerHoldsIsNotSentAgain) {
  HandFedBlock block;
  block.Begin(1);
  PullEvent pull = block.NextPull(0, -1);
  pull.cached_version = Version(1);
  block->OnPull(pull, block.Now());
  EXPECT_THAT(block.Heard(), ElementsAre("UNCHANGED 0 p-1 v0 r1"));
  block.Push(0, 0);
  pull = block.NextPull(0, 0);
  pull.cached_version = Version(1);
  block->OnPull(pull, block.Now());
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v1", "ANSWER 0 p0 v1 r2"));
  EXPECT_EQ(block->counters().unchanged, 1U);
  EXPECT_EQ(block->counters().answers, 2U);
}

TEST(BlockPullTest, AnotherTermAndAReplacedLifeAreTurnedAway) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(1);
  PullEvent pull = block.NextPull(0, -1);
  pull.term = Term(2);
  block->OnPull(pull, block.Now());
  block.Leave(0).Join(0, 0, 2).Roster();
  block.Pull(0, -1, 1);
  block.Pull(0, -1, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("MOVED 0#0 v0", "FENCED 0#0 v0", "ANSWER 0'2 p-1 v0 r1"));
}

TEST(BlockPullTest, AnObserverIsAnsweredWhenItsEpochIsKnown) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  PullEvent pull = block.NextPull(0, 99);
  pull.observer = true;
  pull.epoch_min = block.epoch() + 1;
  block.Forget();
  block->OnPull(pull, block.Now());
  EXPECT_THAT(block.Heard(), IsEmpty());
  EXPECT_THAT(block->WhyWaiting(), HasSubstr("for epoch 2 (now 1)"));
  block.Leave(0).Leave(1).Roster();
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p99 v1 r2")) << "with what its members left complete";
}

TEST(BlockPullTest, AnObserverOfADesertedBlockIsToldThatItNeverHadValues) {
  HandFedBlock block;
  block.Join(0, 0).Roster();
  PullEvent pull = block.NextPull(0, 5);
  pull.observer = true;
  block->OnPull(pull, block.Now());
  EXPECT_THAT(block.Heard(), IsEmpty()) << "a member may still give them";
  block.Leave(0).Roster();
  EXPECT_THAT(block.Heard(), ElementsAre("UNCHANGED 0 p5 v0 r0"));
}

TEST(BlockPullTest, AnOlderRosterChangesNothing) {
  HandFedBlock block;
  block.Begin(1);
  block.Join(1, 0).Roster();
  const std::vector<MemberState> old = {{.key = HandFedBlock::Key(0)}};
  block->OnMembers(Epoch(1), old, block.Now());
  block.Push(0, 0);
  EXPECT_EQ(block->v_train(), Iteration(0)) << "worker 1 is still a member";
  block->OnMembers(Epoch(3), old, block.Now());
  EXPECT_EQ(block->v_train(), Iteration(1)) << "a life that the newest roster does not name is gone";
}

TEST(BlockPullTest, AVersionHeldByASendStaysAsItIs) {
  for (const char* optimizer : {"sum", "adam", "momentum"}) {
    HandFedBlock block({.sync = "asp", .optimizer = optimizer});
    block.Begin(1);
    block.Push(0, 0, {1, 2});
    block.Pull(0, 0);
    const ConstBufferRef held = block.Held(0);
    const std::vector<float> before(held->floats().begin(), held->floats().end());
    for (int i = 1; i < 20; ++i) block.Push(0, i, {1, 2});
    EXPECT_EQ(before, std::vector<float>(held->floats().begin(), held->floats().end())) << optimizer;
    EXPECT_NE(before, block.values()) << optimizer;
  }
}

TEST(BlockPullTest, MemoryStaysBoundedOverManySteps) {
  HandFedBlock block({.sync = "bsp", .optimizer = "adam", .elements = 100});
  block.Begin(3);
  std::uint64_t spare_after_warm_up = 0;
  for (int i = 0; i < 50; ++i) {
    for (std::uint32_t w = 0; w < 3; ++w) {
      block.Push(w, i);
      block.Pull(w, i);
    }
    if (i == 5) spare_after_warm_up = block.pool().spare_bytes();
  }
  EXPECT_EQ(block.pool().spare_bytes(), spare_after_warm_up);
  EXPECT_LE(spare_after_warm_up, 8 * 100 * sizeof(float)) << "a spare set and the gradients of an iteration";
}

}  // namespace
}  // namespace leeway
