#include "base/host_text.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(HostTextTest, OnlyThisMachineReachesALoopbackHost) {
  for (const char* address : {"127.0.0.1:7000", "127.1.2.3:0", "localhost:80", "[::1]:7000", "[::1]:0"}) {
    EXPECT_TRUE(IsLoopbackHost(HostOfAddress(address))) << address;
  }
  for (const char* address :
       {"10.0.0.5:7000", "0.0.0.0:0", "[2001:db8::1]:7000", "box:127", "1127.0.0.1:1"}) {
    EXPECT_FALSE(IsLoopbackHost(HostOfAddress(address))) << address;
  }
}

}  // namespace
}  // namespace leeway
