#include "chart/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "chart/span_merging.h"
#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

using testing::CountOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::XmlFault;

Timeline TimelineOf(std::vector<TimelineRow> rows) {
  return {.title = "what they did", .note = "", .kinds = WorkerSpanKinds(), .rows = std::move(rows)};
}

void ExpectSound(const Timeline& timeline) {
  const std::string svg = SvgText(Draw(timeline));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, SvgText(Draw(timeline))) << "the same bytes";
}

// `count` spans of a length, one after the other, of two kinds in turn.
std::vector<Span> Chain(std::size_t count, double length) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < count; ++i) {
    spans.push_back({i % 2, static_cast<double>(i) * length, static_cast<double>(i + 1) * length});
  }
  return spans;
}

TEST(SpanMergingTest, SpansThatCanBeSeenStayAsTheyAre) {
  const std::vector<Span> spans = Chain(4, 10);
  const std::vector<PixelSpan> merged =
      MergedSpans(spans, 4, Scale(ScaleKind::kLinear, {0, 100}, 0, 100), 0, 100);
  ASSERT_EQ(merged.size(), 4U);
  EXPECT_EQ(merged[3].source, &spans[3]);
  EXPECT_EQ(merged[3].begin, 30);
  EXPECT_EQ(merged[3].end, 40);
}

TEST(SpanMergingTest, NarrowSpansBecomeWhatTookMostOfAPixel) {
  // Nine tenths of every pixel are of kind 0, until the middle; then of kind 1.
  std::vector<Span> spans;
  for (int i = 0; i < 1'000; ++i) {
    const std::size_t kind = (i % 10 == 0) == (i < 500) ? 1 : 0;
    spans.push_back({kind, i * 0.1, i * 0.1 + 0.1});
  }
  const std::vector<PixelSpan> merged =
      MergedSpans(spans, 2, Scale(ScaleKind::kLinear, {0, 100}, 0, 100), 0, 100);
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].kind, 0U);
  EXPECT_EQ(merged[0].end, 50);
  EXPECT_EQ(merged[1].kind, 1U);
  EXPECT_EQ(merged[1].source, nullptr);
}

TEST(SpanMergingTest, WhatIsHardlyBusyIsLower) {
  std::vector<Span> spans;
  for (int i = 0; i < 500; ++i) spans.push_back({0, i * 0.2, i * 0.2 + (i < 250 ? 0.05 : 0.1)});
  const std::vector<PixelSpan> merged =
      MergedSpans(spans, 1, Scale(ScaleKind::kLinear, {0, 100}, 0, 100), 0, 100);
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].thirds, 1);
  EXPECT_EQ(merged[1].thirds, 2);
}

TEST(SpanMergingTest, AnEventWithoutALengthLeavesATrace) {
  const std::vector<Span> spans = {{2, 50, 50}};
  EXPECT_EQ(MergedSpans(spans, 4, Scale(ScaleKind::kLinear, {0, 100}, 0, 100), 0, 100).size(), 1U);
}

TEST(SpanMergingTest, WhatMakesNoSenseIsLeftOut) {
  const std::vector<Span> spans = {{9, 0, 10},       {0, 10, 5},    {0, NAN, 5},
                                   {0, 0, INFINITY}, {0, -30, -20}, {0, 200, 300}};
  EXPECT_TRUE(MergedSpans(spans, 4, Scale(ScaleKind::kLinear, {0, 100}, 0, 100), 0, 100).empty());
}

TEST(TimelineTest, SpansTellWhatTheyAreAndShowTheirIteration) {
  const std::string body =
      Draw(TimelineOf({{"worker <0>", {{0, 0, 0.5, "17"}, {1, 0.5, 1}}, "2 steps"}})).body;
  EXPECT_THAT(body, HasSubstr("<title>worker &lt;0&gt;: compute 17, 500 ms, from 0 s</title>"));
  EXPECT_THAT(body, HasSubstr("class=\"in\""));
  EXPECT_THAT(body, HasSubstr("2 steps"));
}

TEST(TimelineTest, MillionsOfSpansMakeASmallPicture) {
  std::vector<TimelineRow> rows;
  for (int row = 0; row < 100; ++row) {
    rows.push_back(
        {"worker " + std::to_string(row), Chain(row == 0 ? 500'000 : 20'000, row == 0 ? 0.001 : 0.025)});
  }
  const Timeline timeline = TimelineOf(std::move(rows));
  const std::string svg = SvgText(Draw(timeline));
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_LT(svg.size(), 300'000U);
  EXPECT_THAT(svg, HasSubstr("64 of 100 rows"));
}

TEST(TimelineTest, OverlappingSpansAreBoundedToo) {
  std::vector<Span> spans;
  for (int i = 0; i < 100'000; ++i) spans.push_back({0, 0, 100.0 + i});
  EXPECT_LT(SvgText(Draw(TimelineOf({{"worker", spans}}))).size(), 100'000U);
}

TEST(TimelineTest, WhatIsEmptyOrOddIsDrawn) {
  ExpectSound(TimelineOf({}));
  ExpectSound(TimelineOf({{"idle", {}}}));
  ExpectSound(TimelineOf({{"one", {{0, 5, 5}}}}));
  ExpectSound(TimelineOf({{"odd", {{0, NAN, 5}, {99, 1, 2}, {0, 3, 1}, {0, -5, -1}, {1, 0, INFINITY}}}}));
  ExpectSound(Timeline{.rows = {{"no kinds", {{0, 1, 2}}}}});
  Timeline clipped = TimelineOf(
      {{std::string(9'000, 'n'), {{0, 0, 100, std::string(9'000, 't')}}, std::string(9'000, 'e')}});
  clipped.x.low = 10;
  clipped.x.high = 20;
  ExpectSound(clipped);
}

}  // namespace
}  // namespace leeway::chart
