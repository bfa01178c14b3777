#include "bench/cluster/network_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NetworkProbeTest, ARateThatIsCarriedIsTaken) {
  EXPECT_TRUE(CheckCarried({.gbit_s = 0.94, .idle = 0.3}, LinkRate{1'000'000'000}, 1).ok());
  EXPECT_TRUE(CheckCarried({.gbit_s = 0.94, .idle = 0.3}, LinkRate{10'000'000'000}, 10).ok());
}

TEST(NetworkProbeTest, ARateThatIsNotCarriedIsRefusedWithWhatCanBe) {
  const Status refused = CheckCarried({.gbit_s = 2.5, .idle = 0.01}, LinkRate{10'000'000'000}, 1);
  EXPECT_EQ(refused.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      refused.message(),
      AllOf(HasSubstr("--net: 10gbit cannot be emulated here: the cards carried 2.50 of 10.00 Gbit/s"),
            HasSubstr("--net 1.25gbit or less, or --scale 8,")));
}

}  // namespace
}  // namespace leeway::bench
