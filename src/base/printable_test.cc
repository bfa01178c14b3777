#include "base/printable.h"

#include <gtest/gtest.h>

#include <random>

namespace leeway {
namespace {

TEST(PrintableTest, PlainTextAndOtherLanguagesStayAsTheyAre) {
  for (const char* text : {"", "node-7.example:4000", "C:\\path \"quoted\"", "Größe 重み 🙂", "a b"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(PrintableTest, NoTextEndsALineOrReachesTheTerminal) {
  EXPECT_EQ(Printable("x\n12:00:00 I everything is fine"), "x\\n12:00:00 I everything is fine");
  EXPECT_EQ(Printable("\x1b[2J\x1b]0;title\x07"), "\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(Printable("a\r\tb\x7f"), "a\\r\\tb\\x7f");
  EXPECT_EQ(Printable(std::string_view("nul\0l", 5)), "nul\\x00l");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "2J"),
            "\\x9b2J")
      << "CSI in one character";
  EXPECT_EQ(Printable("\xE2\x80\xA8\xE2\x80\xAE"), "\\u2028\\u202e")
      << "a line separator, and text turned around";
}

TEST(PrintableTest, WhatIsNoUtf8IsEscapedByteByByte) {
  EXPECT_EQ(Printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(Printable("a\xC3"), "a\\xc3") << "cut inside a character";
  EXPECT_EQ(Printable("\xC0\x8A"), "\\xc0\\x8a") << "a line break in too many bytes";
  EXPECT_EQ(Printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "half a surrogate pair";
  EXPECT_EQ(Printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
}

TEST(PrintableTest, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(Printable("abcdef", 6), "abcdef");
  EXPECT_EQ(Printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(Printable("abcde\xC3\xA4", 6), "abcde...");
  EXPECT_EQ(Printable("abcd\n\n", 6), "abcd\\n...");
}

TEST(PrintableTest, LinesMayGoOnIndentedButNeverAtTheFirstColumn) {
  EXPECT_EQ(PrintableLines("waits for:\n  worker 1\n  worker 2", 100), "waits for:\n  worker 1\n  worker 2");
  EXPECT_EQ(PrintableLines("x\n12:00:00 I fine\n y", 100), "x\\n12:00:00 I fine\\n y");
  EXPECT_EQ(PrintableLines("x\n", 100), "x\\n");
}

TEST(PrintableTest, RandomBytesComeOutAsPrintableTextThatStaysTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string once = Printable(text, 1000);
    EXPECT_EQ(Printable(once, 1000), once);
    for (const char c : once) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

}  // namespace
}  // namespace leeway
