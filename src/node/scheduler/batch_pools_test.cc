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
    last = request;
    return pools.Lease(WorkerId(worker), request, live);
  }
  static std::vector<std::uint64_t> Batches(const wire::pb::BatchLease& lease) {
    return {lease.batches().begin(), lease.batches().end()};
  }

  BatchPools pools;
  std::uint64_t requests = 0;
  wire::pb::LeaseBatches last;
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
  pools.Gone(WorkerId(1));
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
  EXPECT_THAT(Batches(Lease(0, 1, {0, 1})), ElementsAre(5));
  pools.Gone(WorkerId(0));
  EXPECT_THAT(Batches(Lease(1, 3, {3, 4})), ElementsAre(2, 5, 6)) << "0 and 1 were done";
  EXPECT_EQ(pools.all().at("p").done, 4U);
}

TEST_F(BatchPoolsTest, ADyingWorkerLosesNoBatch) {
  std::set<std::uint64_t> done;
  (void)Lease(0, 4);
  pools.Gone(WorkerId(0));
  std::vector<std::uint64_t> held;
  for (;;) {
    const auto lease = Lease(1, 4, held, 20, 1);
    done.insert(held.begin(), held.end());
    if (lease.exhausted()) break;
    held = Batches(lease);
  }
  EXPECT_EQ(done.size(), 20U);
  EXPECT_EQ(pools.all().at("p").done, 20U);
  EXPECT_TRUE(pools.all().at("p").leased.empty());
}

TEST_F(BatchPoolsTest, ARequestThatComesAgainGetsTheSameLease) {
  const auto first = Lease(0, 3);
  const auto again = pools.Lease(WorkerId(0), last, 2);
  EXPECT_EQ(Batches(again), Batches(first));
  EXPECT_EQ(pools.all().at("p").leased.size(), 3U);
}

TEST_F(BatchPoolsTest, OnlyTheHolderCanFinishABatch) {
  (void)Lease(0, 2);
  (void)Lease(1, 1, {0, 1, 17});
  EXPECT_EQ(pools.all().at("p").done, 0U);
  EXPECT_EQ(pools.all().at("p").leased.size(), 3U);
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

}  // namespace
}  // namespace leeway
