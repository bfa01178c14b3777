#include "launch/slow_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using ::testing::HasSubstr;

// The variables of worker `rank`: factor, pattern.
std::pair<std::string, std::string> Told(const SlowWorkers& slow, std::uint32_t rank) {
  Environment environment;
  slow.SetVariables(rank, 7, environment);
  return {environment.Get("LEEWAY_SLOWDOWN").value_or(""),
          environment.Get("LEEWAY_SLOW_PATTERN").value_or("")};
}
using Words = std::pair<std::string, std::string>;

TEST(SlowWorkersTest, AFactorIsOfOneWorker) {
  SlowWorkers slow;
  ASSERT_TRUE(slow.Take("3:4x").ok());
  ASSERT_TRUE(slow.Take("1:1.5x").ok());
  EXPECT_EQ(Told(slow, 3), Words("4", ""));
  EXPECT_EQ(Told(slow, 1), Words("1.5", ""));
  EXPECT_EQ(Told(slow, 0), Words("", ""));
}

TEST(SlowWorkersTest, APatternIsOfAllWorkersWithTheSeedOfTheJob) {
  SlowWorkers rotating, pausing;
  ASSERT_TRUE(rotating.Take("rotate:4x,5-10").ok());
  ASSERT_TRUE(rotating.Take("0:2x").ok());
  EXPECT_EQ(Told(rotating, 0), Words("2", "rotate 4 5 10 7"));
  EXPECT_EQ(Told(rotating, 2), Words("", "rotate 4 5 10 7"));
  ASSERT_TRUE(pausing.Take("pauses:200ms,0.05").ok());
  EXPECT_EQ(Told(pausing, 1), Words("", "pauses 0.2 0.05 7"));
}

TEST(SlowWorkersTest, ARankBeyondTheJobIsRefused) {
  SlowWorkers slow;
  ASSERT_TRUE(slow.Take("4:2x").ok());
  EXPECT_TRUE(slow.Check(5).ok());
  EXPECT_THAT(slow.Check(4).message(), HasSubstr("got rank 4, wanted 0 to 3 (4 workers)"));
  EXPECT_TRUE(SlowWorkers().Check(1).ok());
}

TEST(SlowWorkersTest, OtherTextsAreRefusedAndChangeNothing) {
  SlowWorkers slow;
  for (const char* text :
       {"", "3", "3:", "3:4", "3:0.5x", "3:1001x", "3:nanx", "4096:2x", "x:2x", "spin:4x"}) {
    EXPECT_THAT(slow.Take(text).message(), HasSubstr("wanted RANK:FACTORx")) << text;
  }
  for (const char* text : {"rotate", "rotate:4x", "rotate:4,5-10", "rotate:4x,5", "rotate:4x,0-5",
                           "rotate:4x,10-5", "rotate:4x,5-1000001", "rotate:4-5x,7", "rotate:0.5x,1-2"}) {
    EXPECT_THAT(slow.Take(text).message(), HasSubstr("wanted rotate:FACTORx,LOW-HIGH")) << text;
  }
  for (const char* text : {"pauses", "pauses:200ms", "pauses:200,0.05", "pauses:0ms,0.05", "pauses:2h,0.05",
                           "pauses:1s,0", "pauses:1s,1.5", "pauses:1s,nan"}) {
    EXPECT_THAT(slow.Take(text).message(), HasSubstr("wanted pauses:TIME,CHANCE")) << text;
  }
  EXPECT_EQ(Told(slow, 3), Words("", ""));
  ASSERT_TRUE(slow.Take("rotate:4x,5-10").ok());
  EXPECT_THAT(slow.Take("pauses:1s,0.5").message(), HasSubstr("beside another of rotate and pauses"));
  EXPECT_EQ(Told(slow, 3), Words("", "rotate 4 5 10 7"));
}

}  // namespace
}  // namespace leeway::app
