#include "busy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "child.h"

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(BusyTest, OthersAreWhatIsUsedAndNotOurs) {
  const MachineTime from{.all_s = 100, .used_s = 10};
  const MachineTime to{.all_s = 120, .used_s = 25};
  EXPECT_DOUBLE_EQ(OthersShare(from, to, 0), 0.75);
  EXPECT_DOUBLE_EQ(OthersShare(from, to, 10), 0.25);
  EXPECT_DOUBLE_EQ(OthersShare(from, to, 16), 0) << "our clock is finer than the machine's";
  EXPECT_DOUBLE_EQ(OthersShare(from, from, 0), 0);
}

TEST(BusyTest, SaysSoWhenItIs) {
  EXPECT_THAT(TextOf({.before = 0.02, .during = 0.3}),
              HasSubstr("2 % of this machine just before the run and 30 %"));
  EXPECT_EQ(TextOf({.before = 0.02, .during = 0.05}).find("others"), std::string::npos);
  EXPECT_THAT(
      JsonOf(Busy{.before = 0.4, .during = 0.25}).Done(),
      HasSubstr(R"("busy":0.4,"busy_before":0.4,"busy_during":0.25,"gaps_s":0,"gaps_share":0,"cores":)"));
}

TEST(BusyTest, SaysSoWhenACoreIsTakenAwayAllTheTime) {
  EXPECT_THAT(TextOf({.gaps = {.per_s = 900, .share = 0.035}}), HasSubstr("900 times a second, 3.5 %"));
  EXPECT_EQ(TextOf({.gaps = {.per_s = 250, .share = 0.002}}).find("clock"), std::string::npos);
}

TEST(BusyTest, GapsAreAShareOfTheTime) {
  const CoreGaps gaps = MeasureCoreGaps(std::chrono::milliseconds(20));
  EXPECT_GE(gaps.per_s, 0);
  EXPECT_GE(gaps.share, gaps.per_s * 5e-6 * 0.99);
  EXPECT_LE(gaps.share, 1);
}

void Spin(double cpu_s) {
  const double before = ProcessorSeconds(getpid());
  while (ProcessorSeconds(getpid()) - before < cpu_s) {
  }
}

TEST(BusyTest, OurOwnWorkIsOursAndOfChildrenThatEnded) {
  const double before = OwnProcessorSeconds();
  Spin(0.05);
  const double own = OwnProcessorSeconds() - before;
  EXPECT_GE(own, 0.04);
  {
    Child child([](Child::Parent& parent) {
      Spin(0.1);
      parent.Tell("done");
      return 0;
    });
    EXPECT_EQ(*child.Hear(), "done");
  }
  EXPECT_GE(OwnProcessorSeconds() - before, own + 0.09);
}

}  // namespace
}  // namespace leeway::bench
