#include "sim/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

TimelineReport RunUnder(const std::string& sync) {
  TimelineOptions options;
  options.sync = sync;
  return RunTimeline(options);
}

std::map<std::uint32_t, int> StepsOf(const TimelineReport& report) {
  std::map<std::uint32_t, int> steps;
  for (const TimelineSpan& span : report.spans) ++steps[span.worker];
  return steps;
}

Duration LongestWait(const TimelineReport& report) {
  Duration longest{};
  for (const TimelineSpan& span : report.spans) longest = std::max(longest, span.began - span.asked);
  return longest;
}

TEST(TimelineTest, UnderBspEveryoneKeepsThePaceOfTheSlowest) {
  const TimelineReport report = RunUnder("bsp");
  ASSERT_THAT(report.problems, testing::IsEmpty());
  const auto steps = StepsOf(report);
  EXPECT_NEAR(steps.at(0), steps.at(3), 1);
  EXPECT_GT(LongestWait(report), milliseconds(20));
}

TEST(TimelineTest, UnderAspNobodyWaitsForAnother) {
  const TimelineReport report = RunUnder("asp");
  ASSERT_THAT(report.problems, testing::IsEmpty());
  const auto steps = StepsOf(report);
  EXPECT_GT(steps.at(0), 3 * steps.at(3));
  EXPECT_LT(LongestWait(report), milliseconds(3)) << "a way to the server and back";
  EXPECT_EQ(report.delayed, 0U);
}

TEST(TimelineTest, UnderSspNobodyBeginsAnIterationTooFarAhead) {
  const TimelineReport report = RunUnder("ssp:2");
  ASSERT_THAT(report.problems, testing::IsEmpty());
  // A worker begins iteration i with an answer to progress i - 1, given when i - 1 < v_train + 2; v_train is
  // the iteration that the slowest is in.
  for (const TimelineSpan& span : report.spans) {
    const auto slowest = std::ranges::count_if(report.spans, [&](const TimelineSpan& other) {
      return other.worker == 3 && other.ended <= span.began;
    });
    EXPECT_LE(span.iteration, slowest + 2) << "worker " << span.worker << " at " << span.began.count();
  }
  EXPECT_GT(report.delayed, 0U);
}

TEST(TimelineTest, TheSameSeedGivesTheSameSpans) {
  const TimelineReport one = RunUnder("ssp:2"), other = RunUnder("ssp:2");
  ASSERT_EQ(one.spans.size(), other.spans.size());
  for (std::size_t i = 0; i < one.spans.size(); ++i) EXPECT_EQ(one.spans[i].ended, other.spans[i].ended);
}

TEST(TimelineTest, TheTextHasALineForEachWorkerOfAtMostTheColumns) {
  TimelineOptions options;
  const TimelineReport report = RunTimeline(options);
  for (const std::size_t columns : {80U, 120U}) {
    const std::string text = TimelineText(options, report, columns);
    EXPECT_EQ(std::ranges::count(text, '\n'), 4);
    EXPECT_THAT(text, testing::HasSubstr("w3   ====="));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_EQ(line.size(), columns) << line;
  }
}

}  // namespace
}  // namespace leeway::sim
