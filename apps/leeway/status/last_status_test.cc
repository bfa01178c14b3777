#include "status/last_status.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

TEST(LastStatusTest, TheNewestStatusIsKeptWithTheTimeWhenTheJobHadGathered) {
  LastStatus last;
  EXPECT_EQ(last.get(), nullptr);
  EXPECT_TRUE(last.Take(R"({"job":"a","phase":"gathering"})", 1));
  EXPECT_EQ(last.gathered_s(), std::nullopt);
  EXPECT_TRUE(last.Take(R"({"job":"a","phase":"running"})", 2));
  EXPECT_TRUE(last.Take(R"({"job":"a","phase":"ended"})", 3));
  EXPECT_EQ(last.gathered_s(), 2.0);
  EXPECT_EQ(last.get()->phase, "ended");
  EXPECT_EQ(last.json(), R"({"job":"a","phase":"ended"})");
}

TEST(LastStatusTest, AJobThatEndedWithoutGatheringHasNotGathered) {
  LastStatus last;
  ASSERT_TRUE(last.Take(R"({"job":"a","phase":"gathering"})", 1));
  ASSERT_TRUE(last.Take(R"({"job":"a","phase":"ended"})", 2));
  EXPECT_EQ(last.gathered_s(), std::nullopt);
  ASSERT_TRUE(last.Take(R"({"job":"a","phase":"ended","gathered_after_s":0.5})", 3));
  EXPECT_EQ(last.gathered_s(), 3.0);
}

TEST(LastStatusTest, ATextThatIsNoStatusChangesNothing) {
  LastStatus last;
  ASSERT_TRUE(last.Take(R"({"job":"a","phase":"running"})", 1));
  EXPECT_FALSE(last.Take("{", 2));
  EXPECT_EQ(last.get()->job, "a");
  EXPECT_EQ(last.json(), R"({"job":"a","phase":"running"})");
}

}  // namespace
}  // namespace leeway::app
