#include "chart/text.h"

#include <gtest/gtest.h>

#include "chart/testing/xml_scan.h"

namespace leeway::chart {
namespace {

TEST(TextTest, EscapesWhatMarkupIsMadeOf) {
  EXPECT_EQ(Escaped("<b a=\"1\" c='2'>&</b>"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;&lt;/b&gt;");
  EXPECT_EQ(Escaped("plain, \u00b1 \u4f60 \U0001F600"), "plain, \u00b1 \u4f60 \U0001F600");
}

TEST(TextTest, BytesThatAreNoTextBecomeReplacements) {
  const std::string fffd = "\ufffd";
  EXPECT_EQ(Escaped(std::string_view("a\0b", 3)), "a" + fffd + "b");
  EXPECT_EQ(Escaped("\x1b[31m"), fffd + "[31m");
  EXPECT_EQ(Escaped("\xff"), fffd);
  EXPECT_EQ(Escaped("\xc3"), fffd) << "cut off";
  EXPECT_EQ(Escaped("\xc0\xaf"), fffd + fffd) << "a slash in too many bytes";
  EXPECT_EQ(Escaped("\xed\xa0\x80"), fffd + fffd + fffd) << "half of a pair";
  EXPECT_EQ(Escaped("\xf5\x80\x80\x80"), fffd + fffd + fffd + fffd) << "beyond the last code point";
  EXPECT_EQ(Escaped("a\n\tb"), "a\n\tb");
}

TEST(TextTest, EveryByteSequenceIsWellFormedOnceEscaped) {
  std::string bytes;
  for (int first = 0; first < 256; ++first) {
    for (const int second : {0, 9, 38, 60, 128, 191, 194, 255}) {
      bytes += static_cast<char>(first);
      bytes += static_cast<char>(second);
    }
  }
  EXPECT_EQ(testing::XmlFault("<a b=\"" + Escaped(bytes) + "\">" + Escaped(bytes) + "</a>"), "");
}

TEST(TextTest, ClipsAtTheWidthAndNotWithinACharacter) {
  EXPECT_EQ(Clipped("short", 100, 12), "short");
  const std::string clipped = Clipped(std::string(1000, 'x'), 60, 12);
  EXPECT_LE(TextWidth(clipped, 12), 60);
  EXPECT_GT(TextWidth(clipped, 12), 40);
  EXPECT_TRUE(clipped.ends_with("\u2026"));
  EXPECT_EQ(Clipped("\u4f60\u597d\u4f60\u597d", 30, 12), "\u4f60\u2026");
  EXPECT_EQ(ClippedTo("abcdef", 6), "abcdef");
  EXPECT_EQ(ClippedTo("abcdefg", 6), "abcde\u2026");
  EXPECT_EQ(ClippedTo("", 6), "");
}

TEST(TextTest, WrapsAtSpacesAndCutsTheLastLine) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Wrapped("", 100, 10, 3), Lines());
  EXPECT_EQ(Wrapped("one line", 100, 10, 3), Lines{"one line"});
  EXPECT_EQ(Wrapped("alpha beta gamma", 62, 10, 3), (Lines{"alpha beta", "gamma"}));
  const Lines cut = Wrapped("alpha beta gamma delta", 35, 10, 2);
  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0], "alpha");
  EXPECT_TRUE(cut[1].ends_with("\u2026"));
  EXPECT_EQ(Wrapped(std::string(500, 'w'), 50, 10, 3).size(), 1U) << "a word without an end";
}

TEST(XmlScanTest, FindsWhatIsWrong) {
  using testing::XmlFault;
  EXPECT_EQ(XmlFault("<a b=\"1\"><c/>text &amp; more</a>\n"), "");
  for (const char* bad : {"<a>", "<a></b>", "<a b=1></a>", "<a>&</a>", "<a>&nbsp;</a>", "<a b=\"<\"/>",
                          "<a/><a/>", "</a>", "<a b=\"1\" b=\"2\"/>", "<a>\x01</a>", "text", ""}) {
    EXPECT_NE(XmlFault(bad), "") << bad;
  }
}

}  // namespace
}  // namespace leeway::chart
