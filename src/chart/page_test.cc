#include "chart/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chart/line_chart.h"
#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

using testing::CountOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::XmlFault;

Drawing SomeChart() { return Draw(LineChart{.title = "c", .series = {{"s", {{0, 1}, {1, 2}}}}}); }

Page SomePage() {
  Page page{.title = "Report", .subtitle = "of a run", .footer = "leeway"};
  page.sections.push_back(
      {"Summary", {Cards{{{"best", "bsp", "by far", Tone::kGood}, {"worst", "asp"}}}, Paragraph{"Plain."}}});
  page.sections.push_back({"Charts",
                           {Figure{SomeChart(), "caption"}, Figure{SomeChart(), "", SomeChart()},
                            Paragraph{"Bad.", Tone::kBad}, Figure{SomeChart()}}});
  page.sections.push_back({"Scenario",
                           {Table{.columns = {{"a"}}, .rows = {{"1"}}}, Fold{"sim.toml", "[a]\nb = 1\n"},
                            Fold{"open", "", true}}});
  return page;
}

TEST(PageTest, IsWellFormedAndAlwaysTheSame) {
  const std::string html = PageHtml(SomePage());
  EXPECT_EQ(XmlFault(html), "");
  EXPECT_EQ(html, PageHtml(SomePage()));
  EXPECT_EQ(CountOf(html, "<style>"), 1U) << "one for all charts";
  EXPECT_EQ(CountOf(html, "<svg "), 4U + 4U) << "each with a clip inside";
}

TEST(PageTest, LoadsNothing) {
  const std::string html = PageHtml(SomePage());
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  EXPECT_EQ(CountOf(html, "http"), CountOf(html, "http://www.w3.org/2000/svg") + CountOf(html, "http-equiv"))
      << "no address";
}

TEST(PageTest, EverythingFromOutsideIsEscaped) {
  const std::string evil = "</style></pre><script>alert('x')</script>&\"";
  Page page{.title = evil, .subtitle = evil, .footer = evil};
  page.sections.push_back({evil,
                           {Paragraph{evil}, Cards{{{evil, evil, evil}}},
                            Table{.columns = {{evil}}, .rows = {{evil}}, .note = evil},
                            Figure{Draw(LineChart{.title = evil,
                                                  .note = evil,
                                                  .x = {.label = evil, .unit = evil},
                                                  .y = {.label = evil},
                                                  .series = {{evil, {{0, 1}, {1, 2}}}},
                                                  .references = {{ReferenceLine::Across::kY, 1, evil}}}),
                                   evil},
                            Fold{evil, evil}}});
  const std::string html = PageHtml(page);
  EXPECT_EQ(XmlFault(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_EQ(CountOf(html, "</style>"), 1U);
}

TEST(PageTest, NavigationLeadsToEverySection) {
  const std::string html = PageHtml(SomePage());
  for (const char* anchor : {"summary", "charts", "scenario"}) {
    EXPECT_EQ(CountOf(html, std::string("href=\"#") + anchor + "\""), 1U);
    EXPECT_EQ(CountOf(html, std::string("id=\"") + anchor + "\""), 1U);
  }
}

TEST(PageTest, AnchorsAreShortAndDifferent) {
  EXPECT_THAT(AnchorsOf({{"Time to 90 %", {}},
                         {"time, to: 90", {}},
                         {"\u4f60", {}},
                         {"", {}},
                         {"section", {}},
                         {"section 2", {}}}),
              ElementsAre("time-to-90", "time-to-90-2", "section", "section-2", "section-3", "section-2-2"));
  EXPECT_LE(AnchorsOf({{std::string(5'000, 'a'), {}}})[0].size(), 60U);
}

TEST(PageTest, FiguresThatFollowEachOtherShareARow) {
  EXPECT_EQ(CountOf(PageHtml(SomePage()), "<div class=\"figures\">"), 2U);
}

TEST(PageTest, AnEmptyPageIsOneToo) { EXPECT_EQ(XmlFault(PageHtml({})), ""); }

}  // namespace
}  // namespace leeway::chart
