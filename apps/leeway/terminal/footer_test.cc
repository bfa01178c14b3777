#include "terminal/footer.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

TEST(FooterTest, ABarAloneIsOneRowThatIsErasedBeforeItIsDrawnAnew) {
  Footer footer;
  EXPECT_EQ(footer.Erase(), "");
  footer.SetBar("10%");
  EXPECT_EQ(footer.Draw(80, 24), "\r\x1b[K10%");
  footer.SetBar("20%");
  EXPECT_EQ(footer.Draw(80, 24), "\r\x1b[K\r\x1b[K20%");
  EXPECT_EQ(footer.Erase(), "\r\x1b[K");
  EXPECT_EQ(footer.Erase(), "") << "nothing is left";
}

TEST(FooterTest, EveryStreamKeepsARowOfItsOwnAboveTheBar) {
  Footer footer;
  footer.SetBar("bar");
  footer.SetLine("w1", "[w1] 5%");
  footer.SetLine("w0", "[w0] 7%");
  EXPECT_EQ(footer.Draw(80, 24), "\r\x1b[K[w0] 7%\n\r\x1b[K[w1] 5%\n\r\x1b[Kbar");
  EXPECT_EQ(footer.Erase(), "\r\x1b[K\x1b[A\r\x1b[K\x1b[A\r\x1b[K")
      << "the cursor is where the first row was";
  footer.EndLine("w0");
  EXPECT_EQ(footer.Draw(80, 24), "\r\x1b[K[w1] 5%\n\r\x1b[Kbar");
}

TEST(FooterTest, RowsNeitherWrapNorFillTheTerminal) {
  Footer footer;
  for (const char* key : {"a", "b", "c", "d"}) footer.SetLine(key, std::string(key) + "123456");
  EXPECT_EQ(footer.Draw(4, 4), "\r\x1b[Ka12\n\r\x1b[Kb12");
}

TEST(FooterTest, ColumnsAreCodePoints) {
  EXPECT_EQ(FirstColumns("\u2588\u2588\u2588", 2), "\u2588\u2588");
  EXPECT_EQ(FirstColumns("abc", 3), "abc");
  EXPECT_EQ(FirstColumns("abc", 0), "");
}

}  // namespace
}  // namespace leeway::app
