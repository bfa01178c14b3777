#include "chart/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

using testing::CountOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::XmlFault;

LineChart LinesOf(std::vector<Point> points) {
  return {.title = "t",
          .note = "n",
          .x = {.label = "time", .unit = "s"},
          .y = {.label = "loss"},
          .series = {{"ours", std::move(points)}}};
}

// How many lines the line of the first series is broken into.
std::size_t Runs(const std::string& svg) {
  const std::size_t at = svg.find("<path class=\"ln\" d=\"");
  if (at == std::string::npos) return 0;
  return CountOf(svg.substr(at, svg.find('>', at) - at), "M");
}

void ExpectSound(const LineChart& chart) {
  const std::string svg = SvgText(Draw(chart));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, SvgText(Draw(chart))) << "the same bytes";
}

TEST(LineChartTest, AChartNeedsNothingFromElsewhere) {
  const std::string svg = SvgText(Draw(LinesOf({{0, 1}, {1, 2}})));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, HasSubstr("<style>"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, HasSubstr("class=\"bg\"")) << "a background of its own";
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("url(")));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr(" id=\""))) << "ids are not unique among the pictures of a page";
}

TEST(LineChartTest, NaNAndInfinityAreGaps) {
  EXPECT_EQ(Runs(SvgText(Draw(LinesOf({{0, 1}, {1, 2}, {2, 3}})))), 1U);
  EXPECT_EQ(Runs(SvgText(Draw(LinesOf({{0, 1}, {1, NAN}, {2, 3}, {3, INFINITY}, {4, 1}})))), 3U);
  ExpectSound(LinesOf({{0, 1},
                       {1, NAN},
                       {NAN, 3},
                       {3, INFINITY},
                       {-INFINITY, 1},
                       {5, 1e300},
                       {6, 2, NAN, 3},
                       {7, 2, 1, INFINITY}}));
}

TEST(LineChartTest, ZeroIsAGapOnALogarithmicAxis) {
  LineChart chart = LinesOf({{1, 10}, {2, 0}, {3, 1000}, {4, -1}, {5, 1}});
  chart.y.scale = ScaleKind::kLog;
  EXPECT_EQ(Runs(SvgText(Draw(chart))), 3U);
  chart.x.scale = ScaleKind::kLog;
  ExpectSound(chart);
}

TEST(LineChartTest, WhatIsEmptyOrEqualOrAloneIsDrawn) {
  ExpectSound(LinesOf({}));
  ExpectSound(LinesOf({{3, 4}}));
  ExpectSound(LinesOf({{3, 4, 3, 5}}));
  ExpectSound(LinesOf({{0, 7}, {1, 7}, {2, 7}}));
  ExpectSound(LinesOf({{2, 1}, {2, 2}, {2, 3}}));
  ExpectSound(LinesOf({{-5, -1e6}, {5, -2e6}}));
  ExpectSound(LineChart{});
  LineChart tiny = LinesOf({{0, 1}, {1, 2}});
  tiny.width = 40;
  tiny.height = 20;
  ExpectSound(tiny);
}

TEST(LineChartTest, NamesAreEscapedAndCut) {
  LineChart chart = LinesOf({{0, 1}, {1, 2}});
  chart.title = "<script>alert(1)</script> & \"more\"";
  chart.series[0].name = std::string(100'000, 'W') + "<&>";
  chart.x.label = std::string(5'000, '<');
  chart.references = {{ReferenceLine::Across::kY, 1.5, "\"a\" < b"},
                      {ReferenceLine::Across::kX, NAN, "nowhere"}};
  const std::string svg = SvgText(Draw(chart));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("\u2026"));
  EXPECT_LT(svg.size(), 30'000U);
}

TEST(LineChartTest, AMillionPointsMakeASmallPicture) {
  LineChart chart = LinesOf({});
  for (int i = 0; i < 1'000'000; ++i) {
    const double y = std::sin(i * 0.001) + std::sin(i * 1.7);
    chart.series[0].points.push_back({i * 0.01, y, y - 0.5, y + 0.5});
  }
  const std::string svg = SvgText(Draw(chart));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_LT(svg.size(), 25'000U);
}

TEST(LineChartTest, PapersFiguresAreDashedInTheColourOfOurs) {
  LineChart chart = LinesOf({{0, 1}, {1, 2}});
  chart.series.push_back({"paper", {{0, 1.1}, {1, 2.1}}, true});
  chart.series.push_back({"other", {{0, 1.2}, {1, 2.2}}});
  const std::string body = Draw(chart).body;
  EXPECT_THAT(body, HasSubstr("stroke-dasharray=\"5 4\""));
  EXPECT_GT(CountOf(body, "<g class=\"c0\">"), CountOf(body, "<g class=\"c1\">"));
  EXPECT_EQ(CountOf(body, "<g class=\"c2\">"), 0U);
}

TEST(LineChartTest, ThirtySeriesFitAndTheRestAreCounted) {
  LineChart chart = LinesOf({});
  for (int i = 0; i < 40; ++i)
    chart.series.push_back({"series " + std::to_string(i), {{0, 1.0 * i}, {1, 2.0 * i}}});
  ExpectSound(chart);
  EXPECT_THAT(Draw(chart).body, HasSubstr(" more</text>"));
}

TEST(LineChartTest, PointsTellWhatTheyAre) {
  EXPECT_THAT(Draw(LinesOf({{0.25, 3, 2, 4}})).body,
              HasSubstr("<title>ours\ntime: 250 ms\nloss: 3 (2 to 4)</title>"));
}

}  // namespace
}  // namespace leeway::chart
