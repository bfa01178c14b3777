#include "node/scheduler/batch_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BatchPoolsTest : public ::testing::Test {
 protected:
  wire::pb::BatchLease Lease(std::uint32_t worker, std::uint32_t wanted,
                             const std::vector<std::uint64_t>& done = {}, std::uint64_t batches = 20,
                             std::size_t live = 2) {
    wire::pb::LeaseBatches request;
    request.set_request(++requests);
    request.set_pool("p");
    request.set_batches(batches);
    request.set_wanted(wanted);
    for (const std::uint64_t batch : done) request.add_done(batch);
    request.set_iteration(iteration);
    request.set_settled(settled);
    request.set_per_iteration(per_iteration);
    for (const std::int64_t in : used) request.add_used(in);
    last = request;
    return pools.Lend(Life(worker), request, live);
  }
  static MemberKey Life(std::uint32_t worker) { return {WorkerId(worker), Incarnation(1)}; }
  static std::vector<std::uint64_t> Batches(const wire::pb::BatchLease& lease) {
    return {lease.batches().begin(), lease.batches().end()};
  }

  BatchPools pools;
  std::uint64_t requests = 0;
  wire::pb::LeaseBatches last;
  std::int64_t iteration = 0, settled = 0;
  std::uint32_t per_iteration = 1;
  std::vector<std::int64_t> used;
};

TEST_F(BatchPoolsTest, LeasesInOrderAndNeverTwice) {
  EXPECT_THAT(Batches(Lease(0, 3)), ElementsAre(0, 1, 2));
  EXPECT_THAT(Batches(Lease(1, 2)), ElementsAre(3, 4));
}

TEST_F(BatchPoolsTest, ALeaseIsAtMostHalfAnEvenShareOfWhatIsLeft) {
  EXPECT_EQ(Lease(0, 100).batches_size(), 5) << "20 / (2 * 2)";
  EXPECT_EQ(Lease(0, 100).batches_size(), 4) << "15 / 4, rounded up";
  while (Lease(0, 100).batches_size() > 1) {
  }
  EXPECT_EQ(Lease(0, 100).batches_size(), 1) << "at least one";
}

TEST_F(BatchPoolsTest, AWorkerDrawsUntilItIsToldThatThePoolIsUsedUp) {
  EXPECT_FALSE(pools.IsDrawing(WorkerId(0))) << "it has never asked";
  (void)Lease(0, 1, {}, 2, 1);
  EXPECT_TRUE(pools.IsDrawing(WorkerId(0)));
  (void)Lease(1, 1, {}, 2, 1);
  EXPECT_TRUE(pools.IsDrawing(WorkerId(0))) << "all is leased, and 0 still holds a batch";
  EXPECT_TRUE(Lease(0, 1, {0}, 2, 1).exhausted());
  EXPECT_FALSE(pools.IsDrawing(WorkerId(0)));
  pools.Settle(Life(1), Iteration(-1));
  EXPECT_FALSE(pools.IsDrawing(WorkerId(0))) << "what came back since is not its own";
  EXPECT_FALSE(pools.IsDrawing(WorkerId(1)));
}

TEST_F(BatchPoolsTest, EveryBatchIsLeasedOnceThenThePoolIsExhausted) {
  std::set<std::uint64_t> seen;
  for (std::uint32_t i = 0;; ++i) {
    const auto lease = Lease(i % 2, 3);
    if (lease.exhausted()) break;
    ASSERT_GT(lease.batches_size(), 0);
    for (const std::uint64_t batch : lease.batches()) EXPECT_TRUE(seen.insert(batch).second) << batch;
  }
  EXPECT_EQ(seen.size(), 20U);
}

TEST_F(BatchPoolsTest, LeasesOfAGoneMemberGoBackAndAreLeasedFirst) {
  EXPECT_THAT(Batches(Lease(0, 3)), ElementsAre(0, 1, 2));
  EXPECT_THAT(Batches(Lease(1, 2)), ElementsAre(3, 4));
  iteration = 3;
  EXPECT_THAT(Batches(Lease(0, 1, {0, 1})), ElementsAre(5));
  pools.Settle(Life(0), Iteration(1));
  EXPECT_THAT(Batches(Lease(1, 3, {3, 4})), ElementsAre(2, 5, 6)) << "0 and 1 were done";
  EXPECT_EQ(pools.all().at("p").done, 4U);
}

TEST_F(BatchPoolsTest, ADyingWorkerLosesNoBatch) {
  std::set<std::uint64_t> done;
  (void)Lease(0, 4);
  pools.Settle(Life(0), Iteration(-1));
  std::vector<std::uint64_t> held;
  for (;;) {
    const auto lease = Lease(1, 4, held, 20, 1);
    done.insert(held.begin(), held.end());
    if (lease.exhausted()) break;
    held = Batches(lease);
  }
  EXPECT_EQ(done.size(), 20U);
  EXPECT_EQ(pools.all().at("p").done, 20U);
  EXPECT_EQ(pools.all().at("p").at_work(), 0U);
}

TEST_F(BatchPoolsTest, ARequestThatComesAgainGetsTheSameLease) {
  const auto first = Lease(0, 3);
  const auto again = pools.Lend(Life(0), last, 2);
  EXPECT_EQ(Batches(again), Batches(first));
  EXPECT_EQ(pools.all().at("p").at_work(), 3U);
}

TEST_F(BatchPoolsTest, OnlyTheHolderCanFinishABatch) {
  (void)Lease(0, 2);
  (void)Lease(1, 1, {0, 1, 17});
  EXPECT_EQ(pools.all().at("p").done, 0U);
  EXPECT_EQ(pools.all().at("p").at_work(), 3U);
}

TEST_F(BatchPoolsTest, AnotherSizeOfTheSamePoolIsAnError) {
  (void)Lease(0, 1);
  EXPECT_THAT(Lease(1, 1, {}, 21).error(), HasSubstr("pool \"p\": got 21 batches, wanted 20"));
}

TEST_F(BatchPoolsTest, AnEmptyPoolIsExhaustedFromTheStart) { EXPECT_TRUE(Lease(0, 4, {}, 0).exhausted()); }

TEST_F(BatchPoolsTest, WantingNothingOnlyFinishes) {
  (void)Lease(0, 2);
  const auto lease = Lease(0, 0, {0, 1});
  EXPECT_EQ(lease.batches_size(), 0);
  EXPECT_FALSE(lease.exhausted());
  EXPECT_EQ(pools.all().at("p").done, 2U);
}

TEST_F(BatchPoolsTest, ABatchWhoseGradientABlockHasIsNotLeasedAgain) {
  iteration = 40;
  EXPECT_THAT(Batches(Lease(0, 4)), ElementsAre(0, 1, 2, 3)) << "for iterations 40 to 43";
  pools.Settle(Life(0), Iteration(41));
  EXPECT_THAT(Batches(Lease(1, 3)), ElementsAre(2, 3, 4));
  EXPECT_EQ(pools.all().at("p").done, 2U);
}

TEST_F(BatchPoolsTest, ABatchThatIsSaidToBeDoneComesBackIfItsPushGotNowhere) {
  iteration = 40;
  (void)Lease(0, 2);
  iteration = 42, settled = 41;
  EXPECT_THAT(Batches(Lease(0, 1, {0, 1})), ElementsAre(2));
  EXPECT_EQ(pools.all().at("p").done, 2U);
  pools.Settle(Life(0), Iteration(40));
  EXPECT_EQ(pools.all().at("p").done, 1U) << "batch 1 was pushed in iteration 41, which no block has";
  EXPECT_THAT(Batches(Lease(1, 3)), ElementsAre(1, 2, 3));
}

TEST_F(BatchPoolsTest, OfOneThatLeavesWhatItSaidToBeDoneIsDone) {
  iteration = 40;
  (void)Lease(0, 2);
  (void)Lease(0, 1, {0, 1});  // which it used without a push
  pools.Left(Life(0), Iteration(39));
  EXPECT_EQ(pools.all().at("p").done, 2U);
  EXPECT_THAT(Batches(Lease(1, 2)), ElementsAre(2, 3));
}

TEST_F(BatchPoolsTest, SeveralBatchesOfOneIterationAreTakenTogether) {
  iteration = 10, per_iteration = 2;
  EXPECT_THAT(Batches(Lease(0, 5)), ElementsAre(0, 1, 2, 3, 4)) << "for iterations 10, 10, 11, 11, 12";
  pools.Settle(Life(0), Iteration(11));
  EXPECT_THAT(Batches(Lease(1, 2)), ElementsAre(4, 5));
}

TEST_F(BatchPoolsTest, WhatTheWorkerSaysOfItsBatchesCountsMoreThanThePlan) {
  iteration = 10;
  (void)Lease(0, 2);
  used = {17, 18};  // it left iterations out
  iteration = 19;
  (void)Lease(0, 1, {0, 1});
  pools.Settle(Life(0), Iteration(17));
  EXPECT_THAT(Batches(Lease(1, 2)), ElementsAre(1, 2));
}

TEST_F(BatchPoolsTest, WhileALifeIsInDoubtTheLastOnesWait) {
  (void)Lease(0, 4, {}, 4, 1);
  (void)Lease(0, 4, {}, 4, 1);
  (void)Lease(0, 4, {}, 4, 1);
  EXPECT_FALSE(pools.MustWait(last)) << "the pool is used up, and its holder lives";
  pools.AwaitSettle(Life(0));
  EXPECT_TRUE(pools.MustWait(last));
  pools.Settle(Life(0), Iteration(0));
  EXPECT_FALSE(pools.MustWait(last));
  EXPECT_GT(Lease(1, 4, {}, 4, 1).batches_size(), 0);
}

TEST_F(BatchPoolsTest, ACutHoldsTheBatchesOfIterationsBelowWhereItsRanksBegin) {
  pools.KeepFrom(Iteration(41));
  iteration = 40;
  (void)Lease(0, 3);  // 0, 1, 2 in 40, 41, 42
  (void)Lease(1, 2);  // 3, 4 in 40, 41
  iteration = 43, settled = 43;
  (void)Lease(0, 1, {0, 1, 2});  // 5 in 43
  const Iteration begins[] = {Iteration(42), Iteration(41)};
  const std::vector<ManifestPool> cut = pools.InCut(begins);
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_EQ(cut[0].next, 6U);
  EXPECT_THAT(cut[0].open, ElementsAre(2, 4, 5)) << "though the worker is done with 2";
}

TEST_F(BatchPoolsTest, AWorkerThatDiesDuringACutTakesNothingOutOfIt) {
  pools.KeepFrom(Iteration(0));
  iteration = 40;
  (void)Lease(0, 3);  // 0, 1, 2 in 40, 41, 42
  pools.Settle(Life(0), Iteration(42));
  const Iteration begins[] = {Iteration(41)};
  EXPECT_THAT(pools.InCut(begins)[0].open, ElementsAre(1, 2));
  pools.KeepFrom(kIterationMax);
  EXPECT_TRUE(pools.all().at("p").leases.empty()) << "nothing is kept for ever";
}

TEST_F(BatchPoolsTest, AJobGoesOnWithThePoolsOfItsCheckpoint) {
  const ManifestPool saved[] = {{"p", 20, 7, {2, 5}}};
  pools.Resume(saved);
  EXPECT_EQ(pools.all().at("p").done, 5U);
  EXPECT_THAT(Batches(Lease(0, 4)), ElementsAre(2, 5, 7, 8));
}

TEST_F(BatchPoolsTest, APoolOfACheckpointMayGrowAndNotShrink) {
  const ManifestPool saved[] = {{"p", 20, 7, {}}};
  pools.Resume(saved);
  EXPECT_THAT(Lease(0, 1, {}, 6).error(), HasSubstr("got 6 batches, wanted at least 7"));
  EXPECT_THAT(Batches(Lease(0, 1, {}, 40)), ElementsAre(7)) << "more epochs than before";
  EXPECT_THAT(Lease(1, 1, {}, 20).error(), HasSubstr("got 20 batches, wanted 40"));
}

}  // namespace
}  // namespace leeway
