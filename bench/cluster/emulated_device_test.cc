#include "bench/cluster/emulated_device.h"

#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

struct HandClock {
  std::int64_t* now_ns;
  std::int64_t* late_ns;  // a sleep ends so much too late
  [[nodiscard]] std::int64_t NowNs() const { return *now_ns; }
  void SleepUntil(std::int64_t deadline_ns) const { *now_ns = deadline_ns + *late_ns; }
};

class EmulatedDeviceTest : public ::testing::Test {
 protected:
  std::int64_t now_ns_ = 5'000'000, late_ns_ = 0;
  EmulatedDevice<HandClock> device_{HandClock{&now_ns_, &late_ns_}};
};

TEST_F(EmulatedDeviceTest, ALateWakeUpDelaysNoLaterDeadline) {
  late_ns_ = 400'000;
  device_.Compute(0.010);
  EXPECT_EQ(now_ns_, 15'400'000);
  late_ns_ = 0;
  device_.Compute(0.010);
  EXPECT_EQ(now_ns_, 25'000'000);
}

TEST_F(EmulatedDeviceTest, AWaitForValuesMovesTheNextDeadline) {
  device_.Compute(0.010);
  now_ns_ += 3'000'000;
  device_.Waited();
  device_.Compute(0.010);
  EXPECT_EQ(now_ns_, 28'000'000);
}

TEST_F(EmulatedDeviceTest, ShortLayersAddUpUntilASleepIsWorthIt) {
  device_.Compute(80e-6);
  EXPECT_EQ(now_ns_, 5'000'000);
  device_.Compute(80e-6);
  EXPECT_EQ(now_ns_, 5'160'000);
  device_.Compute(50e-6);
  EXPECT_EQ(now_ns_, 5'160'000);
  device_.Finish();
  EXPECT_EQ(now_ns_, 5'210'000);
}

TEST(MonotonicClockTest, ASleepEndsAfterItsDeadline) {
  const std::int64_t deadline_ns = MonotonicClock::NowNs() + 1'000'000;
  MonotonicClock::SleepUntil(deadline_ns);
  EXPECT_GE(MonotonicClock::NowNs(), deadline_ns);
}

}  // namespace
}  // namespace leeway::bench
