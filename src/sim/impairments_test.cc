#include "sim/impairments.h"

#include <gtest/gtest.h>

#include <vector>

namespace leeway::sim {
namespace {

constexpr HostId kA{1}, kB{2};

class ImpairmentsTest : public ::testing::Test, private NetworkWatcher {
 protected:
  ImpairmentsTest() { impairments.Watch(this); }
  Impairments impairments;
  std::vector<std::uint64_t> met;

 private:
  void OnFaultMet(FaultId fault) override { met.push_back(fault.value()); }
  void OnLeft(std::uint64_t, bool) override {}
};

TEST_F(ImpairmentsTest, AStallIsOfOneWayAndEnds) {
  impairments.Stall(kA, kB, Duration(100), FaultId(1));
  EXPECT_EQ(impairments.StalledUntil(kB, kA, Duration(50)), Duration::zero());
  EXPECT_TRUE(met.empty());
  EXPECT_EQ(impairments.StalledUntil(kA, kB, Duration(50)), Duration(100));
  EXPECT_EQ(impairments.StalledUntil(kA, kB, Duration(60)), Duration(100));
  EXPECT_EQ(impairments.StalledUntil(kA, kB, Duration(100)), Duration::zero());
  EXPECT_EQ(met, std::vector<std::uint64_t>{1}) << "it is met once";
}

TEST_F(ImpairmentsTest, AShorterStallDoesNotReplaceALongerOne) {
  impairments.Stall(kA, kB, Duration(100), FaultId(1));
  impairments.Stall(kA, kB, Duration(50), FaultId(2));
  EXPECT_EQ(impairments.StalledUntil(kA, kB, Duration(0)), Duration(100));
  impairments.Stall(kA, kB, Duration(200), FaultId(3));
  EXPECT_EQ(impairments.StalledUntil(kA, kB, Duration(0)), Duration(200));
  EXPECT_EQ(met, (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(ImpairmentsTest, SlownessAndRefusalsEndAtTheirTime) {
  impairments.Slow(kA, kB, Duration(7), Duration(100), FaultId(1));
  impairments.Refuse(kB, Duration(100), FaultId(2));
  EXPECT_EQ(impairments.ExtraDelay(kA, kB, Duration(99)), Duration(7));
  EXPECT_EQ(impairments.ExtraDelay(kA, kB, Duration(100)), Duration::zero());
  EXPECT_TRUE(impairments.IsRefused(kB, Duration(99)));
  EXPECT_FALSE(impairments.IsRefused(kA, Duration(99)));
  EXPECT_FALSE(impairments.IsRefused(kB, Duration(100)));
  EXPECT_EQ(met, (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(ImpairmentsTest, NobodyHearsOfAFaultWithoutAName) {
  impairments.Stall(kA, kB, Duration(100), FaultId{});
  EXPECT_EQ(impairments.StalledUntil(kA, kB, Duration(0)), Duration(100));
  EXPECT_TRUE(met.empty());
}

}  // namespace
}  // namespace leeway::sim
