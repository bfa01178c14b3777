#include "scenario/time_maps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace leeway::scenario {
namespace {

Step StepOf(std::uint32_t rank, std::uint32_t iteration, int asked_s, int began_s, int ended_s) {
  return {rank, iteration, std::chrono::seconds(asked_s), std::chrono::seconds(began_s),
          std::chrono::seconds(ended_s)};
}

// Worker 0 does four short iterations and is done at 4 s; worker 1 computes 2 s, waits for 5 s and computes 1
// s. Time begins at 10 s.
RunBooks TwoWorkers() {
  RunBooks books;
  books.origin = std::chrono::seconds(10);
  books.steps = {StepOf(0, 0, 10, 10, 11), StepOf(0, 1, 11, 11, 12), StepOf(1, 0, 10, 10, 12),
                 StepOf(0, 2, 12, 12, 13), StepOf(0, 3, 13, 13, 14), StepOf(1, 1, 12, 17, 18)};
  return books;
}

std::vector<double> RowOf(const TimeMap& map, std::uint32_t row) {
  const auto begin = map.values.begin() + static_cast<std::ptrdiff_t>(row * map.columns);
  return {begin, begin + map.columns};
}

TEST(TimeMapsTest, AColumnWithinOneWaitIsWaitedWhollyAndNotMissing) {
  const TimeMap map = WaitsOf(TwoWorkers(), 2, 4, 8);
  EXPECT_EQ(map.column_s, 2);
  EXPECT_EQ(RowOf(map, 1), (std::vector<double>{0, 1, 1, 0.5}));
}

TEST(TimeMapsTest, AWorkerThatIsDoneHasNoValue) {
  const std::vector<double> waits = RowOf(WaitsOf(TwoWorkers(), 2, 4, 8), 0);
  EXPECT_EQ(waits[1], 0);
  EXPECT_TRUE(std::isnan(waits[2]) && std::isnan(waits[3]));
  const std::vector<double> lags = RowOf(LagOf(TwoWorkers(), 2, 4, 8), 0);
  EXPECT_EQ(lags[1], 0);
  EXPECT_TRUE(std::isnan(lags[2]) && std::isnan(lags[3]));
}

TEST(TimeMapsTest, TheLagIsThatInTheMiddleOfAColumnAndGoesOnBehindOneThatIsDone) {
  // At 1, 3, 5 and 7 s worker 0 begins iteration 1, begins iteration 3, and has done 3.
  EXPECT_EQ(RowOf(LagOf(TwoWorkers(), 2, 4, 8), 1), (std::vector<double>{1, 2, 2, 2}));
}

TEST(TimeMapsTest, NothingThatHappenedGivesAnEmptyMap) {
  EXPECT_TRUE(LagOf({}, 2, 4, 0).values.empty());
  EXPECT_TRUE(WaitsOf({}, 2, 4, 0).values.empty());
}

TEST(TimeMapsTest, StepsThatTookNoTimeGiveAnEmptyMap) {
  RunBooks books;
  books.origin = std::chrono::seconds(10);
  books.steps = {StepOf(0, 0, 10, 10, 10)};
  EXPECT_TRUE(LagOf(books, 2, 4, 0).values.empty());
  EXPECT_TRUE(WaitsOf(books, 2, 4, 0).values.empty());
}

}  // namespace
}  // namespace leeway::scenario
