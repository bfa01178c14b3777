#include "node/scheduler/barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using Members = std::vector<Barriers::Member>;
const Members kTwo{{WorkerId(0)}, {WorkerId(1)}};
const Members kThree{{WorkerId(0)}, {WorkerId(1)}, {WorkerId(2)}};

std::vector<std::uint32_t> Names(const std::vector<Barriers::Release>& released) {
  std::vector<std::uint32_t> workers;
  for (const auto& release : released) workers.push_back(release.worker.value());
  return workers;
}

// A call of a worker that came to the running job in iteration 12.
Barriers::Call LateCall(std::uint32_t worker, const char* name, std::uint64_t round, std::int64_t iteration,
                        std::uint64_t steps) {
  return {WorkerId(worker), name, round, Iteration(iteration), steps, Iteration(12)};
}
const Members kOneLate{{WorkerId(0)}, {WorkerId(1), Iteration(12)}};

TEST(BarriersTest, ReleasesAllWhenTheLastArrives) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(2), .name = "x", .round = 1}).ok());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = 1}).ok());
  EXPECT_TRUE(barriers.Released(kThree).empty());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "x", .round = 1}).ok());
  const auto released = barriers.Released(kThree);
  EXPECT_EQ(Names(released), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(released[0].name, "x");
  EXPECT_EQ(released[0].round, 1U);
  EXPECT_TRUE(barriers.Released(kThree).empty()) << "once";
}

TEST(BarriersTest, OtherNamesAndRoundsAreOtherBarriers) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = 1}).ok());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "y", .round = 1}).ok());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "x", .round = 2}).ok());
  EXPECT_TRUE(barriers.Released(kTwo).empty());
}

TEST(BarriersTest, AMemberThatDiesIsWaitedForNoMore) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = 1}).ok());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "x", .round = 1}).ok());
  EXPECT_TRUE(barriers.Released(kThree).empty());
  EXPECT_EQ(Names(barriers.Released(kTwo)), (std::vector<std::uint32_t>{0, 1}));
}

TEST(BarriersTest, ArrivingTwiceCountsOnce) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = 1}).ok());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = 1}).ok());
  EXPECT_TRUE(barriers.Released(kTwo).empty());
}

TEST(BarriersTest, ARoundThatIsOverReleasesARepeatedCallAtOnce) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "x", .round = 1}).ok());
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "x", .round = 1}).ok());
  ASSERT_EQ(barriers.Released(kTwo).size(), 2U);
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "x", .round = 1}).ok());
  EXPECT_EQ(Names(barriers.Released(kTwo)), (std::vector<std::uint32_t>{1}));
}

TEST(BarriersTest, LongNamesAreRefused) {
  Barriers barriers;
  EXPECT_EQ(barriers.Arrive({.worker = WorkerId(0), .name = std::string(257, 'x')}).code(),
            StatusCode::kInvalidArgument);
}

TEST(BarriersTest, OneThatCameLaterCountsFromTheRoundThatIsOpen) {
  Barriers barriers;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (const std::uint32_t worker : {0U, 1U}) {
      ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(worker), .name = "b", .round = round}).ok());
    }
    ASSERT_EQ(barriers.Released(kTwo).size(), 2U);
  }
  barriers.Forget(WorkerId(1));
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 4, Iteration(20), 20}).ok());
  ASSERT_TRUE(barriers.Released(kOneLate).empty());
  ASSERT_TRUE(barriers.Arrive(LateCall(1, "b", 1, 20, 8)).ok());
  const auto released = barriers.Released(kOneLate);
  ASSERT_EQ(released.size(), 2U);
  EXPECT_EQ(released[0].round, 4U);
  EXPECT_EQ(released[1].round, 1U) << "in its own count";
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 5, Iteration(24), 24}).ok());
  ASSERT_TRUE(barriers.Released(kOneLate).empty());
  ASSERT_TRUE(barriers.Arrive(LateCall(1, "b", 2, 24, 12)).ok());
  EXPECT_EQ(barriers.Released(kOneLate).size(), 2U);
}

TEST(BarriersTest, OneThatCameLaterPassesWhatTheOthersPassedBeforeTheirFirstIteration) {
  Barriers barriers;
  for (const std::uint32_t worker : {0U, 1U}) {
    ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(worker), .name = "start"}).ok());
  }
  ASSERT_EQ(barriers.Released(kTwo).size(), 2U);
  barriers.Forget(WorkerId(1));
  ASSERT_TRUE(barriers.Arrive(LateCall(1, "start", 1, 12, 0)).ok());
  EXPECT_EQ(Names(barriers.Released(kOneLate)), (std::vector<std::uint32_t>{1}));
}

TEST(BarriersTest, ABarrierThatOneCameTooLateForDoesNotWaitForIt) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 1, Iteration(12), 12}).ok());
  EXPECT_EQ(Names(barriers.Released(kOneLate)), (std::vector<std::uint32_t>{0}));
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 2, Iteration(13), 13}).ok());
  EXPECT_TRUE(barriers.Released(kOneLate).empty()) << "it comes by this one";
}

TEST(BarriersTest, AnArrivalOfALifeThatIsOverDoesNotCountForTheNext) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(1), .name = "b", .round = 1}).ok());
  barriers.Forget(WorkerId(1));
  ASSERT_TRUE(barriers.Arrive({.worker = WorkerId(0), .name = "b", .round = 1}).ok());
  EXPECT_TRUE(barriers.Released(kTwo).empty());
}

TEST(BarriersTest, WhereALifeThatIsOverStoodDoesNotCountEither) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive({WorkerId(1), "b", 1, Iteration(3), 3}).ok());
  ASSERT_TRUE(barriers.Arrive({WorkerId(0), "b", 1, Iteration(20), 20}).ok());
  barriers.Forget(WorkerId(1));
  EXPECT_TRUE(barriers.Released(kOneLate).empty()) << "the next life comes by this one";
}

}  // namespace
}  // namespace leeway
