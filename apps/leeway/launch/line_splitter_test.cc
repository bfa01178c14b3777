#include "launch/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leeway::app {
namespace {

using ::testing::ElementsAre;

struct Lines {
  std::vector<std::string> got;
  LineSplitter splitter{[this](std::string_view line) { got.emplace_back(line); }};
};

TEST(LineSplitterTest, LinesAreWholeHoweverTheBytesCome) {
  Lines lines;
  for (const char* piece : {"on", "e\ntw", "o\n", "\nfour"}) lines.splitter.Add(piece);
  EXPECT_THAT(lines.got, ElementsAre("one", "two", ""));
  lines.splitter.Finish();
  EXPECT_THAT(lines.got, ElementsAre("one", "two", "", "four"));
}

TEST(LineSplitterTest, ACarriageReturnEndsALineAndBothTogetherEndOne) {
  Lines lines;
  lines.splitter.Add("10%\r20%\r\n30%\r");
  lines.splitter.Add("\nend\n");
  EXPECT_THAT(lines.got, ElementsAre("10%", "20%", "30%", "end"));
}

TEST(LineSplitterTest, AnEndlessLineIsCut) {
  Lines lines;
  lines.splitter.Add(std::string(LineSplitter::kLineBytesMax + 5, 'x'));
  lines.splitter.Finish();
  ASSERT_EQ(lines.got.size(), 2U);
  EXPECT_EQ(lines.got[0].size(), LineSplitter::kLineBytesMax);
  EXPECT_EQ(lines.got[1], "xxxxx");
}

TEST(LineSplitterTest, FinishAfterAWholeLineAddsNothing) {
  Lines lines;
  lines.splitter.Add("one\n");
  lines.splitter.Finish();
  EXPECT_THAT(lines.got, ElementsAre("one"));
}

}  // namespace
}  // namespace leeway::app
