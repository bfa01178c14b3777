#include "chart/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"
#include "chart/heat_grid.h"
#include "chart/palette.h"
#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

using testing::CountOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::XmlFault;

template <typename ValueOf>
HeatMap MapOf(std::size_t rows, std::size_t columns, ValueOf value_of) {
  HeatMap map{.title = "staleness",
              .note = "",
              .rows = {},
              .x = {.label = "time", .unit = "s"},
              .x_low = 0,
              .x_high = 60,
              .column_count = columns,
              .values = {},
              .value_label = "iterations"};
  for (std::size_t row = 0; row < rows; ++row) {
    map.rows.push_back("worker " + std::to_string(row));
    for (std::size_t column = 0; column < columns; ++column) {
      map.values.push_back(value_of(static_cast<double>(row), static_cast<double>(column)));
    }
  }
  return map;
}

void ExpectSound(const HeatMap& map) {
  const std::string svg = SvgText(Draw(map));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, SvgText(Draw(map))) << "the same bytes";
}

TEST(HeatMapTest, RunsOfEqualColourAreOneStroke) {
  const std::string body = Draw(MapOf(2, 100, [](double row, double) { return row; })).body;
  EXPECT_THAT(body, HasSubstr("d=\"M0 0h100\""));
  EXPECT_THAT(body, HasSubstr("d=\"M0 1h100\""));
}

TEST(HeatMapTest, LargeOnesAreMergedAndSayso) {
  const HeatMap map = MapOf(1'024, 450, [](double row, double) { return row < 11 ? 4 : 0; });
  const HeatGrid grid = GridOf(map);
  EXPECT_EQ(grid.rows_each, 11U);
  EXPECT_EQ(grid.columns_each, 3U);
  EXPECT_EQ(grid.rows, 94U);
  EXPECT_EQ(grid.columns, 150U);
  EXPECT_EQ(grid.At(0, 0), 4);
  EXPECT_EQ(grid.At(1, 0), 0);
  EXPECT_THAT(Draw(map).body, HasSubstr("a cell is the mean of 11 rows and 3 columns"));
}

TEST(HeatMapTest, MergingTakesTheMeanOrTheLargest) {
  HeatMap map = MapOf(192, 1, [](double row, double) {
    return std::fmod(row, 2) == 0 ? 1 : row == 1 ? NAN : 5;
  });
  EXPECT_EQ(GridOf(map).At(0, 0), 1) << "what has no value does not count";
  EXPECT_EQ(GridOf(map).At(1, 0), 3);
  map.merge = HeatMap::Merge::kLargest;
  EXPECT_EQ(GridOf(map).At(1, 0), 5);
}

TEST(HeatMapTest, AThousandWorkersMakeASmallPicture) {
  const HeatMap noise = MapOf(1'024, 200, [](double row, double column) {
    return static_cast<double>(Mix64(static_cast<std::uint64_t>(row * 1'000 + column)) % 100);
  });
  HeatMap largest = noise;
  largest.merge = HeatMap::Merge::kLargest;
  const HeatMap waves =
      MapOf(1'024, 200, [](double row, double column) { return 5 + 4 * std::sin(row / 90 + column / 30); });
  EXPECT_LT(SvgText(Draw(noise)).size(), 200'000U) << "no two cells alike";
  EXPECT_LT(SvgText(Draw(largest)).size(), 200'000U);
  EXPECT_LT(SvgText(Draw(waves)).size(), 50'000U);
  ExpectSound(noise);
}

TEST(HeatMapTest, MissingValuesAreNeitherLittleNorMuch) {
  HeatMap map = MapOf(3, 4, [](double row, double column) { return row == 1 ? NAN : column; });
  map.values.resize(9);  // the last three of the last row are missing
  map.values[0] = INFINITY;
  const HeatGrid grid = GridOf(map);
  EXPECT_EQ(grid.Level(grid.At(1, 2)), -1);
  EXPECT_EQ(grid.Level(grid.At(2, 3)), -1);
  EXPECT_EQ(grid.Level(grid.At(0, 0)), -1);
  EXPECT_THAT(Draw(map).body, HasSubstr("no value"));
  ExpectSound(map);
}

TEST(HeatMapTest, LevelsSpanTheScale) {
  HeatMap map = MapOf(1, 3, [](double, double column) { return column - 1; });
  HeatGrid grid = GridOf(map);
  EXPECT_EQ(grid.Level(-1), 0);
  EXPECT_EQ(grid.Level(1), kHeatLevels - 1);
  EXPECT_EQ(grid.Level(0), kHeatLevels / 2);
  map.low = 0;
  map.high = 10;
  grid = GridOf(map);
  EXPECT_EQ(grid.range.high, 10);
  EXPECT_EQ(grid.Level(99), kHeatLevels - 1);
  EXPECT_EQ(grid.Level(-99), 0);
}

TEST(HeatMapTest, WhatIsEmptyOrEqualIsDrawn) {
  ExpectSound(MapOf(0, 0, [](double, double) { return 0; }));
  ExpectSound(MapOf(5, 0, [](double, double) { return 0; }));
  ExpectSound(MapOf(0, 5, [](double, double) { return 0; }));
  ExpectSound(MapOf(1, 1, [](double, double) { return -7; }));
  ExpectSound(MapOf(4, 4, [](double, double) { return NAN; }));
  ExpectSound(MapOf(4, 4, [](double, double) { return 1e-120; }));
  HeatMap odd = MapOf(4, 4, [](double row, double) { return row; });
  odd.x_high = odd.x_low = NAN;
  odd.low = odd.high = 3;
  ExpectSound(odd);
}

TEST(HeatMapTest, ColumnsMayHaveNames) {
  HeatMap map = MapOf(2, 2, [](double row, double column) { return row + column; });
  map.columns = {"server <0>", std::string(3'000, 'y')};
  map.rows[0] = "<b>";
  map.in_cells = true;
  ExpectSound(map);
  EXPECT_THAT(Draw(map).body, HasSubstr("&lt;b&gt;, server &lt;0&gt;: 0</title>"));
  EXPECT_LT(Draw(map).body.size(), 12'000U);
}

TEST(HeatMapTest, ATooltipOfMergedColumnsNamesTheFirstOfThem) {
  HeatMap map = MapOf(1, 400, [](double, double column) { return column; });
  for (int column = 0; column < 400; ++column) map.columns.push_back("c" + std::to_string(column));
  ASSERT_EQ(GridOf(map).columns_each, 2U);
  EXPECT_THAT(Draw(map).body, HasSubstr("worker 0, c398: 398.5</title>"));
  EXPECT_THAT(Draw(map).body, Not(HasSubstr("worker 0, c199: ")));
}

}  // namespace
}  // namespace leeway::chart
