#include "chart/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

using ::testing::HasSubstr;

Table Results() {
  return {.columns = {{"model", Align::kLeft}, {"accuracy"}, {"why", Align::kLeft}},
          .rows = {{"bsp", Cell("93.10 \u00b1 0.21 %", true), "ended"}, {"asp", "90.2 %"}},
          .note = "Five seeds."};
}

TEST(TableTest, PlainTextIsAligned) {
  EXPECT_EQ(TableText(Results(), 2),
            "  model        accuracy  why\n"
            "  -----  --------------  -----\n"
            "  bsp    93.10 \u00b1 0.21 %  ended\n"
            "  asp            90.2 %\n"
            "  Five seeds.\n");
}

TEST(TableTest, MarkdownIsAlignedAndMarksWhatIsStrong) {
  EXPECT_EQ(TableMarkdown(Results()),
            "| model |           accuracy | why   |\n"
            "| ----- | -----------------: | ----- |\n"
            "| bsp   | **93.10 \u00b1 0.21 %** | ended |\n"
            "| asp   |             90.2 % |       |\n"
            "\nFive seeds.\n");
}

TEST(TableTest, HtmlIsWellFormed) {
  const std::string html = TableHtml(Results());
  EXPECT_EQ(testing::XmlFault("<div>" + html + "</div>"), "");
  EXPECT_THAT(html, HasSubstr("<td class=\"num\"><strong>93.10 \u00b1 0.21 %</strong></td>"));
  EXPECT_THAT(html, HasSubstr("<td></td></tr>")) << "a short row";
}

TEST(TableTest, SignsOfAFormatAreEscapedInIt) {
  const Table table{.columns = {{"a|b", Align::kLeft}},
                    .rows = {{"<i>x_y _z_ 2*3 `c` [l](u) & \\ ~s~\nnext\tline"}}};
  EXPECT_THAT(TableMarkdown(table), HasSubstr("| a\\|b "));
  EXPECT_THAT(TableMarkdown(table),
              HasSubstr("| \\<i>x_y \\_z\\_ 2\\*3 \\`c\\` \\[l\\](u) \\& \\\\ \\~s\\~ next line |"));
  EXPECT_THAT(TableHtml(table), HasSubstr("&lt;i&gt;x_y"));
  EXPECT_EQ(testing::XmlFault("<div>" + TableHtml(table) + "</div>"), "");
  EXPECT_THAT(TableText(table), HasSubstr("~s~ next line\n"));
}

TEST(TableTest, NothingMovesACursor) {
  const Table table{.columns = {{"a"}}, .rows = {{"x\x1b[2Jy\rz\x9b"}}, .note = "n\x07"};
  for (const std::string& text : {TableText(table), TableMarkdown(table)}) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  }
}

TEST(TableTest, WhatIsEmptyIsWritten) {
  EXPECT_EQ(TableText({}), "");
  EXPECT_EQ(TableMarkdown({}), "");
  EXPECT_EQ(testing::XmlFault(TableHtml({})), "");
  EXPECT_EQ(TableMarkdown({.columns = {{"a"}}, .rows = {{}}}), "|   a |\n| --: |\n|     |\n");
}

TEST(TableDeathTest, ARowOfTooManyCellsIsOurBug) {
  const Table table{.columns = {{"a"}}, .rows = {{"1", "2"}}};
  EXPECT_DEATH(TableText(table), "a row of 2 cells, 1 columns");
}

}  // namespace
}  // namespace leeway::chart
