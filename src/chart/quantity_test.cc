#include "chart/quantity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <locale>

namespace leeway::chart {
namespace {

TEST(QuantityTest, PlainNumbersHaveThreeDigitsAndPrefixesFromTenThousandOn) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(-0.0), "0");
  EXPECT_EQ(FormatNumber(7), "7");
  EXPECT_EQ(FormatNumber(0.5), "0.5");
  EXPECT_EQ(FormatNumber(0.12345), "0.123");
  EXPECT_EQ(FormatNumber(-12.345), "-12.3");
  EXPECT_EQ(FormatNumber(1234), "1,234");
  EXPECT_EQ(FormatNumber(9999), "9,999");
  EXPECT_EQ(FormatNumber(12000), "12k");
  EXPECT_EQ(FormatNumber(12345), "12.3k");
  EXPECT_EQ(FormatNumber(3.5e6), "3.5M");
  EXPECT_EQ(FormatNumber(-2e9), "-2G");
  EXPECT_EQ(FormatNumber(7e12), "7T");
}

TEST(QuantityTest, RoundingUpTakesTheNextPrefix) {
  EXPECT_EQ(FormatNumber(999'960), "1M");
  EXPECT_EQ(FormatQuantity(0.9999, "s"), "1 s");
  EXPECT_EQ(FormatQuantity(999.9, "B"), "1 kB");
}

TEST(QuantityTest, WhatHasNoPlainDigitsHasAnExponent) {
  EXPECT_EQ(FormatNumber(1e-5), "1e-5");
  EXPECT_EQ(FormatNumber(1.234e-7), "1.23e-7");
  EXPECT_EQ(FormatNumber(2e18), "2e18");
  EXPECT_EQ(FormatNumber(std::numeric_limits<double>::max()), "1.8e308");
  EXPECT_EQ(FormatNumber(std::numeric_limits<double>::denorm_min()), "4.94e-324");
}

TEST(QuantityTest, WhatIsNoNumberSaysSo) {
  EXPECT_EQ(FormatNumber(NAN), "\u2013");
  EXPECT_EQ(FormatQuantity(INFINITY, "s"), "\u221e");
  EXPECT_EQ(FormatQuantity(-INFINITY, ""), "-\u221e");
  EXPECT_EQ(FormatSpread(NAN, 1, "s"), "\u2013");
  EXPECT_EQ(FormatIn(NAN, {}), "\u2013");
}

TEST(QuantityTest, UnitsHaveTheirPrefixes) {
  EXPECT_EQ(FormatQuantity(0, "s"), "0 s");
  EXPECT_EQ(FormatQuantity(3e-9, "s"), "3 ns");
  EXPECT_EQ(FormatQuantity(2.5e-6, "s"), "2.5 \u00b5s");
  EXPECT_EQ(FormatQuantity(0.25, "s"), "250 ms");
  EXPECT_EQ(FormatQuantity(90, "s"), "90 s");
  EXPECT_EQ(FormatQuantity(5400, "s"), "90 min");
  EXPECT_EQ(FormatQuantity(129'600, "s"), "36 h");
  EXPECT_EQ(FormatQuantity(1.2e9, "B"), "1.2 GB");
  EXPECT_EQ(FormatQuantity(512, "B"), "512 B");
  EXPECT_EQ(FormatQuantity(12e6, "B/s"), "12 MB/s");
  EXPECT_EQ(FormatQuantity(0.9213, "%"), "92.1 %");
  EXPECT_EQ(FormatQuantity(12000, "steps"), "12k steps");
}

TEST(QuantityTest, AMeanIsAsExactAsItsSpread) {
  EXPECT_EQ(FormatSpread(0.92134, 0.00412, "%"), "92.13 \u00b1 0.41 %");
  EXPECT_EQ(FormatSpread(310.4, 21.3, "s"), "310 \u00b1 21 s");
  EXPECT_EQ(FormatSpread(19840, 1389, ""), "19.8k \u00b1 1.4k");
  EXPECT_EQ(FormatSpread(12.5, 0, "s"), "12.5 \u00b1 0 s");
  EXPECT_EQ(FormatSpread(0, 0, ""), "0 \u00b1 0");
  EXPECT_EQ(FormatSpread(0.001, 0.0002, "s"), "1.00 \u00b1 0.20 ms");
  EXPECT_EQ(FormatSpread(-4, 0.5, ""), "-4.00 \u00b1 0.50");
}

TEST(QuantityTest, CommasPartThousands) {
  EXPECT_EQ(FormatFixed(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(FormatFixed(-1000, 0), "-1,000");
  EXPECT_EQ(FormatFixed(-0.001, 2), "0.00");
  EXPECT_EQ(FormatFixed(999, 0), "999");
}

// A locale that would write 1'234,5.
class Odd : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '\''; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(QuantityTest, TheLocaleChangesNothing) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Odd));
  EXPECT_EQ(FormatNumber(1234.6), "1,235");
  EXPECT_EQ(FormatQuantity(0.0125, "s"), "12.5 ms");
  EXPECT_EQ(FormatFixed(1234567.5, 1), "1,234,567.5");
  std::locale::global(before);
}

}  // namespace
}  // namespace leeway::chart
