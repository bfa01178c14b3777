#include "bench/cluster/link_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(LinkRateTest, ARateIsANumberAndAUnit) {
  EXPECT_EQ(ParseLinkRate("1gbit")->bits_s, 1'000'000'000U);
  EXPECT_EQ(ParseLinkRate("2.5gbit")->bits_s, 2'500'000'000U);
  EXPECT_EQ(ParseLinkRate("100mbit")->bits_s, 100'000'000U);
  EXPECT_EQ(ParseLinkRate("64000kbit")->bits_s, 64'000'000U);
  EXPECT_DOUBLE_EQ(ParseLinkRate("1gbit")->bytes_s(), 125e6);
}

TEST(LinkRateTest, AWrongRateIsShown) {
  for (const char* text : {"", "gbit", "1", "1 gbit", "1Gbit", "1gb", "-1gbit", "nangbit", "infgbit", "0gbit",
                           "999kbit", "401gbit", "1e30gbit", "1gbitx"}) {
    const auto parsed = ParseLinkRate(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.status().message(),
                HasSubstr("got \"" + std::string(text) + "\", wanted a rate from 1mbit to 400gbit"));
  }
}

TEST(LinkRateTest, ARateIsPrintedAsItIsWritten) {
  for (const char* text : {"1gbit", "2.5gbit", "100mbit", "666.667mbit", "10gbit"})
    EXPECT_EQ(PrintLinkRate(*ParseLinkRate(text)), text);
}

}  // namespace
}  // namespace leeway::bench
