#include "node/scheduler/barriers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

const std::vector<WorkerId> kThree{WorkerId(0), WorkerId(1), WorkerId(2)};

std::vector<std::uint32_t> Names(const std::vector<Barriers::Release>& released) {
  std::vector<std::uint32_t> workers;
  for (const auto& release : released) workers.push_back(release.worker.value());
  return workers;
}

TEST(BarriersTest, ReleasesAllWhenTheLastArrives) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive(WorkerId(2), "x", 1).ok());
  ASSERT_TRUE(barriers.Arrive(WorkerId(0), "x", 1).ok());
  EXPECT_TRUE(barriers.Released(kThree).empty());
  ASSERT_TRUE(barriers.Arrive(WorkerId(1), "x", 1).ok());
  const auto released = barriers.Released(kThree);
  EXPECT_EQ(Names(released), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(released[0].name, "x");
  EXPECT_EQ(released[0].round, 1U);
  EXPECT_TRUE(barriers.Released(kThree).empty()) << "once";
}

TEST(BarriersTest, OtherNamesAndRoundsAreOtherBarriers) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive(WorkerId(0), "x", 1).ok());
  ASSERT_TRUE(barriers.Arrive(WorkerId(1), "y", 1).ok());
  ASSERT_TRUE(barriers.Arrive(WorkerId(1), "x", 2).ok());
  EXPECT_TRUE(barriers.Released(std::vector{WorkerId(0), WorkerId(1)}).empty());
}

TEST(BarriersTest, AMemberThatDiesIsWaitedForNoMore) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive(WorkerId(0), "x", 1).ok());
  ASSERT_TRUE(barriers.Arrive(WorkerId(1), "x", 1).ok());
  EXPECT_TRUE(barriers.Released(kThree).empty());
  EXPECT_EQ(Names(barriers.Released(std::vector{WorkerId(0), WorkerId(1)})),
            (std::vector<std::uint32_t>{0, 1}));
}

TEST(BarriersTest, ArrivingTwiceCountsOnce) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive(WorkerId(0), "x", 1).ok());
  ASSERT_TRUE(barriers.Arrive(WorkerId(0), "x", 1).ok());
  EXPECT_TRUE(barriers.Released(std::vector{WorkerId(0), WorkerId(1)}).empty());
}

TEST(BarriersTest, ARoundThatIsOverReleasesARepeatedCallAtOnce) {
  Barriers barriers;
  ASSERT_TRUE(barriers.Arrive(WorkerId(0), "x", 1).ok());
  ASSERT_TRUE(barriers.Arrive(WorkerId(1), "x", 1).ok());
  ASSERT_EQ(barriers.Released(std::vector{WorkerId(0), WorkerId(1)}).size(), 2U);
  ASSERT_TRUE(barriers.Arrive(WorkerId(1), "x", 1).ok());
  EXPECT_EQ(Names(barriers.Released(std::vector{WorkerId(0), WorkerId(1)})), (std::vector<std::uint32_t>{1}));
}

TEST(BarriersTest, LongNamesAreRefused) {
  Barriers barriers;
  EXPECT_EQ(barriers.Arrive(WorkerId(0), std::string(257, 'x'), 1).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace leeway
