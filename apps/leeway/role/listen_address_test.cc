#include "role/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddressTest, LoopbackNeedsNoFlag) {
  for (const char* address : {"127.0.0.1:0", "127.1.2.3:80", "localhost:7000", "[::1]:9"}) {
    EXPECT_TRUE(CheckListen(address, false).ok()) << address;
  }
}

TEST(ListenAddressTest, AnythingElseNeedsTheFlag) {
  const Status refused = CheckListen("10.0.0.5:7000", false);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("--bind-any"));
  EXPECT_TRUE(CheckListen("10.0.0.5:7000", true).ok());
}

TEST(ListenAddressTest, AnAddressNeedsAHostAndAPort) {
  for (const char* address :
       {"", "localhost", ":80", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1"}) {
    EXPECT_THAT(CheckListen(address, true).message(), HasSubstr("wanted host:port")) << address;
  }
}

TEST(ListenAddressTest, AServerMustSayWhereItIs) {
  EXPECT_FALSE(CheckListenAndTell("0.0.0.0:0", true).ok());
  EXPECT_TRUE(CheckListenAndTell("10.0.0.5:0", true).ok());
}

}  // namespace
}  // namespace leeway::app
