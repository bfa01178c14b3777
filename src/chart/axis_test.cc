#include "chart/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace leeway::chart {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> TextsOf(const FittedAxis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.text);
  return texts;
}

TEST(AxisTest, MarksAreInTheUnitThatFits) {
  const FittedAxis ms = FitAxis({.label = "wait", .unit = "s"}, {0, 0.02}, {.length_px = 300});
  EXPECT_EQ(ms.label, "wait (ms)");
  EXPECT_THAT(TextsOf(ms), ElementsAre("0", "5", "10", "15", "20"));
  EXPECT_DOUBLE_EQ(ms.ticks.back().value, 0.02);
  const FittedAxis percent = FitAxis({.label = "accuracy", .unit = "%"}, {0, 1}, {.length_px = 400});
  EXPECT_EQ(percent.label, "accuracy (%)");
  EXPECT_THAT(TextsOf(percent), ElementsAre("0", "20", "40", "60", "80", "100"));
  const FittedAxis plain = FitAxis({.label = "steps"}, {0, 40'000}, {.length_px = 300});
  EXPECT_EQ(plain.label, "steps");
  EXPECT_THAT(TextsOf(plain), ElementsAre("0", "10k", "20k", "30k", "40k"));
}

TEST(AxisTest, LogarithmicMarksHaveTheirOwnPrefix) {
  const FittedAxis time =
      FitAxis({.label = "t", .unit = "s", .scale = ScaleKind::kLog}, {1e-3, 10}, {.length_px = 140});
  EXPECT_EQ(time.label, "t");
  EXPECT_THAT(TextsOf(time), ElementsAre("1 ms", "10 ms", "100 ms", "1 s", "10 s"));
  const FittedAxis count =
      FitAxis({.label = "n", .unit = "pulls", .scale = ScaleKind::kLog}, {1, 10'000}, {.length_px = 140});
  EXPECT_EQ(count.label, "n (pulls)");
  EXPECT_THAT(TextsOf(count), ElementsAre("1", "10", "100", "1,000", "10k"));
}

TEST(AxisTest, ZeroIsShownIfItCostsLittle) {
  EXPECT_EQ(FitAxis({}, {10, 100}, {.length_px = 300}).range.low, 0);
  EXPECT_EQ(FitAxis({}, {90, 100}, {.length_px = 300}).range.low, 90);
  EXPECT_EQ(FitAxis({}, {90, 100}, {.length_px = 300, .with_zero = true}).range.low, 0);
  EXPECT_EQ(FitAxis({}, {-100, -10}, {.length_px = 300}).range.high, 0);
}

TEST(AxisTest, EqualAndMissingDataStillHaveARange) {
  for (const ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog}) {
    for (const double value : {0.0, 5.0, -5.0, 1e-90, 1e99, 123456789.0}) {
      Range range;
      if (IsDrawable(value, kind)) range.Add(value);
      const FittedAxis axis = FitAxis({.scale = kind}, range, {.length_px = 300, .round_out = 0.1});
      EXPECT_LT(axis.range.low, axis.range.high) << value;
      EXPECT_LE(axis.ticks.size(), 20U) << value;
    }
  }
  const FittedAxis close = FitAxis({}, {1e9, 1e9 + 1e-3}, {.length_px = 300});
  EXPECT_GT(close.range.high - close.range.low, 1) << "no digits for marks in between";
}

TEST(AxisTest, ToldEndsAndMarksAreTaken) {
  const FittedAxis told = FitAxis({.low = 0.5, .high = 2.0}, {-7, 90}, {.length_px = 300, .round_out = 1});
  EXPECT_EQ(told.range.low, 0.5);
  EXPECT_EQ(told.range.high, 2);
  const FittedAxis marks =
      FitAxis({.scale = ScaleKind::kLog, .marks = {1, 2, 4, 8, 1000, -1}}, {1, 8}, {.length_px = 300});
  EXPECT_THAT(TextsOf(marks), ElementsAre("1", "2", "4", "8"));
}

TEST(AxisTest, EndsThatMakeNoSenseAreIgnored) {
  EXPECT_EQ(FitAxis({.low = 5.0, .high = 5.0}, {0, 10}, {.length_px = 300}).range.high, 10);
  EXPECT_EQ(FitAxis({.low = 9.0, .high = 3.0}, {0, 10}, {.length_px = 300}).range.low, 0);
  EXPECT_EQ(FitAxis({.low = NAN}, {0, 10}, {.length_px = 300}).range.low, 0);
  EXPECT_GT(FitAxis({.scale = ScaleKind::kLog, .low = 0.0}, {1, 10}, {.length_px = 300}).range.low, 0);
}

TEST(AxisTest, RoundsOutOnlyByALittle) {
  EXPECT_DOUBLE_EQ(FitAxis({}, {0, 9.6}, {.length_px = 350, .round_out = 0.1}).range.high, 10);
  EXPECT_DOUBLE_EQ(FitAxis({}, {0, 8.5}, {.length_px = 350, .round_out = 0.1}).range.high, 8.5);
}

TEST(AxisTest, ABarOfTheSmallestValueHasSomeHeight) {
  const AxisFit fit{.length_px = 200, .upright = true, .with_zero = true};
  EXPECT_LT(FitAxis({.scale = ScaleKind::kLog}, {1, 20'000}, fit).range.low, 1);
  EXPECT_EQ(FitAxis({.scale = ScaleKind::kLog}, {3, 20'000}, fit).range.low, 1);
}

}  // namespace
}  // namespace leeway::chart
