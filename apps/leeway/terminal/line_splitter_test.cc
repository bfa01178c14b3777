#include "terminal/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leeway::app {
namespace {

using ::testing::ElementsAre;

struct Lines {
  std::vector<std::string> got;
  std::vector<std::string> redrawn;
  LineSplitter splitter{[this](std::string_view line) { got.emplace_back(line); },
                        [this](std::string_view text) { redrawn.emplace_back(text); }};
};

TEST(LineSplitterTest, LinesAreWholeHoweverTheBytesCome) {
  Lines lines;
  for (const char* piece : {"on", "e\ntw", "o\n", "\nfour"}) lines.splitter.Add(piece);
  EXPECT_THAT(lines.got, ElementsAre("one", "two", ""));
  lines.splitter.Finish();
  EXPECT_THAT(lines.got, ElementsAre("one", "two", "", "four"));
}

TEST(LineSplitterTest, ACarriageReturnBeginsTheLineAnew) {
  Lines lines;
  lines.splitter.Add("\r10%");  // as tqdm does
  lines.splitter.Add("\r20%\r30%");
  lines.splitter.Add("\r100%\nend\n");
  EXPECT_THAT(lines.got, ElementsAre("100%", "end"));
  EXPECT_THAT(lines.redrawn, ElementsAre("10%", "30%"));
}

TEST(LineSplitterTest, TextBeforeACarriageReturnStaysUntilItIsOverwritten) {
  Lines lines;
  lines.splitter.Add("step 1\r");  // as print(end="\r") does
  lines.splitter.Add("step 2\r");
  EXPECT_THAT(lines.redrawn, ElementsAre("step 1", "step 2"));
  lines.splitter.Finish();
  EXPECT_THAT(lines.got, ElementsAre("step 2"));
}

TEST(LineSplitterTest, BothTogetherEndOneLine) {
  Lines lines;
  lines.splitter.Add("one\r\ntwo\r");
  lines.splitter.Add("\nend\n");
  EXPECT_THAT(lines.got, ElementsAre("one", "two", "end"));
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
