#include "terminal/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(QuantityTest, BytesTakeUnits) {
  EXPECT_EQ(*ParseBytes("512"), 512U);
  EXPECT_EQ(*ParseBytes("16KiB"), 16'384U);
  EXPECT_EQ(*ParseBytes("4MiB"), 4U << 20);
  EXPECT_EQ(*ParseBytes("2GiB"), 2ULL << 30);
  for (const char* bad : {"", "KiB", "4MB", "-1", "1.5MiB", "99999999999GiB"})
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
}

TEST(QuantityTest, TimesNeedAUnit) {
  EXPECT_EQ(*ParseTime("250ms"), milliseconds(250));
  EXPECT_EQ(*ParseTime("30s"), milliseconds(30'000));
  EXPECT_EQ(*ParseTime("2m"), milliseconds(120'000));
  for (const char* bad : {"30", "", "s", "-1s", "1h", "1.5s", "999999999999m"}) {
    EXPECT_THAT(ParseTime(bad).status().message(), HasSubstr("250ms")) << bad;
  }
}

TEST(QuantityTest, PrintingIsExactAndParsesBack) {
  for (const std::uint64_t bytes : {0ULL, 1000ULL, 1024ULL, 4ULL << 20, (4ULL << 20) + 1}) {
    EXPECT_EQ(*ParseBytes(PrintBytes(bytes)), bytes);
  }
  EXPECT_EQ(PrintBytes(4U << 20), "4MiB");
  for (const int ms : {0, 20, 1000, 1500, 60'000})
    EXPECT_EQ(*ParseTime(PrintTime(milliseconds(ms))), milliseconds(ms));
  EXPECT_EQ(PrintTime(milliseconds(0)), "0s");
}

TEST(QuantityTest, OneThingIsNotCalledSeveral) {
  EXPECT_EQ(Counted(0, "server"), "0 servers");
  EXPECT_EQ(Counted(1, "server"), "1 server");
  EXPECT_EQ(Counted(2, "server"), "2 servers");
}

TEST(QuantityTest, ShortFormsAreForReading) {
  EXPECT_EQ(ShortBytes(1.4e9), "1.40 GB");
  EXPECT_EQ(ShortCount(6400), "6400");
  EXPECT_EQ(ShortCount(64'000), "64.0k");
  EXPECT_EQ(ShortTime(42.9), "0:42");
  EXPECT_EQ(ShortTime(3723), "1:02:03");
}

}  // namespace
}  // namespace leeway::app
