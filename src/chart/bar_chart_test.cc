#include "chart/bar_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "chart/bar_layout.h"
#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

using testing::CountOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::XmlFault;

BarChart BarsOf(std::vector<Bar> ours) {
  BarChart chart{.title = "delayed pulls",
                 .note = "",
                 .categories = {},
                 .y = {.label = "pulls"},
                 .series = {{"ours", std::move(ours)}}};
  for (std::size_t i = 0; i < chart.series[0].bars.size(); ++i)
    chart.categories.push_back("model " + std::to_string(i));
  return chart;
}

void ExpectSound(const BarChart& chart) {
  const std::string svg = SvgText(Draw(chart));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, SvgText(Draw(chart))) << "the same bytes";
}

std::size_t Bars(const BarChart& chart) { return CountOf(Draw(chart).body, "<title>model"); }

TEST(BarChartTest, WhatIsNoNumberIsNoBar) {
  const BarChart chart = BarsOf({{3}, {NAN}, {INFINITY}, {1e300}, {5, NAN, 6}, {}, {2, 1, 3}});
  EXPECT_EQ(Bars(chart), 3U);
  ExpectSound(chart);
}

TEST(BarChartTest, ZeroOnALogarithmicAxisHasNoHeightAndSaysZero) {
  BarChart chart = BarsOf({{20'000}, {0}, {12, 0, 15}});
  chart.y.scale = ScaleKind::kLog;
  EXPECT_EQ(Bars(chart), 2U);
  EXPECT_THAT(Draw(chart).body, HasSubstr(">0</text>"));
  EXPECT_THAT(Draw(chart).body, HasSubstr(">20k</text>"));
  ExpectSound(chart);
}

TEST(BarChartTest, NegativeBarsHangFromZero) {
  const BarLayout layout = LayOut(BarsOf({{-3}, {4}}));
  EXPECT_EQ(layout.range.low, -3);
  EXPECT_EQ(layout.range.high, 4);
  ExpectSound(BarsOf({{-3, -4, -2}, {4}, {-0.0}}));
  ExpectSound(BarsOf({{-3}, {-5}}));
}

TEST(BarChartTest, StacksAddUpAndOnlyTheirEndsAreLabelled) {
  BarChart chart = BarsOf({{1}, {2}});
  chart.series.push_back({"more", {{10}, {-20}}});
  chart.series.push_back({"most", {{100, 90, 110}, {NAN}}});
  chart.stacked = true;
  const BarLayout layout = LayOut(chart);
  ASSERT_EQ(layout.pieces.size(), 5U);
  EXPECT_EQ(layout.slots, 1U);
  EXPECT_EQ(layout.pieces[2].from, 11);
  EXPECT_EQ(layout.pieces[2].total, 111);
  EXPECT_EQ(layout.pieces[2].high, 121);
  EXPECT_FALSE(layout.pieces[0].is_end);
  EXPECT_TRUE(layout.pieces[2].is_end);
  EXPECT_EQ(layout.pieces[4].total, -20) << "downwards on its own";
  EXPECT_TRUE(layout.pieces[3].is_end);
  ExpectSound(chart);
}

TEST(BarChartTest, PapersBarsStandBesideOursHatched) {
  BarChart chart = BarsOf({{1}, {2}});
  chart.series.push_back({"paper", {{1.5}, {2.5}}, true});
  const BarLayout layout = LayOut(chart);
  EXPECT_EQ(layout.slots, 2U);
  EXPECT_EQ(layout.colours[0], layout.colours[1]);
  const std::string body = Draw(chart).body;
  EXPECT_EQ(CountOf(body, "class=\"pa\""), 3U) << "two bars and the legend";
  EXPECT_EQ(CountOf(body, "class=\"ha\""), 3U);
  chart.stacked = true;
  EXPECT_EQ(LayOut(chart).slots, 2U);
  EXPECT_EQ(LayOut(chart).pieces[1].from, 0) << "not on ours";
}

TEST(BarChartTest, WhatIsEmptyIsDrawn) {
  ExpectSound(BarsOf({}));
  ExpectSound(BarsOf({{}}));
  ExpectSound(BarsOf({{0}, {0}}));
  ExpectSound(BarChart{.categories = {"a"}});
  BarChart log = BarsOf({{0}});
  log.y.scale = ScaleKind::kLog;
  ExpectSound(log);
}

TEST(BarChartTest, NamesAreBrokenThenTurnedThenCut) {
  BarChart chart = BarsOf({{1}, {2}, {3}, {4}, {5}, {6}});
  chart.width = 400;
  chart.categories = {"a", "b", "c", "d", "e", "bytes sent"};
  EXPECT_THAT(Draw(chart).body, Not(HasSubstr("rotate(")));
  chart.categories[5] = "incomprehensible";
  EXPECT_THAT(Draw(chart).body, HasSubstr("rotate(-32"));
  chart.categories[5] = std::string(10'000, 'x') + "<";
  ExpectSound(chart);
  EXPECT_LT(Draw(chart).body.size(), 10'000U);
}

TEST(BarChartTest, HundredsOfBarsHaveNoValuesAndFewNames) {
  std::vector<Bar> bars(500);
  for (std::size_t i = 0; i < bars.size(); ++i) bars[i].value = static_cast<double>(i * 1'234);
  const BarChart chart = BarsOf(bars);
  ExpectSound(chart);
  EXPECT_EQ(CountOf(Draw(chart).body, "class=\"v"), 0U);
  EXPECT_LT(CountOf(Draw(chart).body, "rotate("), 60U);
}

}  // namespace
}  // namespace leeway::chart
