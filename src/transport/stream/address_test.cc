#include "transport/stream/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::HasSubstr;

std::string AddressError(const std::string& text) {
  const Result<Endpoint> parsed = Endpoint::Parse(text);
  EXPECT_FALSE(parsed.ok()) << text;
  EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(parsed.status().message(), HasSubstr('"' + text + '"')) << "names what it got";
  return parsed.status().message();
}

TEST(AddressTest, ParsesHostAndPortAndPrintsThemAlike) {
  for (const auto& [text, host, port] : {std::tuple{"127.0.0.1:0", "127.0.0.1", 0},
                                         {"node-7.local:65535", "node-7.local", 65535},
                                         {"[::1]:80", "::1", 80},
                                         {"localhost:4000", "localhost", 4000}}) {
    const Result<Endpoint> parsed = Endpoint::Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
    EXPECT_EQ(*parsed, (Endpoint{host, static_cast<std::uint16_t>(port)}));
    EXPECT_EQ(parsed->ToString(), text);
  }
}

TEST(AddressTest, SaysWhatIsWrong) {
  EXPECT_THAT(AddressError(""), HasSubstr("no port"));
  EXPECT_THAT(AddressError("host"), HasSubstr("no port"));
  EXPECT_THAT(AddressError(":80"), HasSubstr("host is empty"));
  EXPECT_THAT(AddressError("[]:80"), HasSubstr("host is empty"));
  EXPECT_THAT(AddressError("host:"), HasSubstr("bad port \"\""));
  EXPECT_THAT(AddressError("host:65536"), HasSubstr("bad port \"65536\""));
  EXPECT_THAT(AddressError("host:-1"), HasSubstr("bad port"));
  EXPECT_THAT(AddressError("host:80x"), HasSubstr("bad port"));
  EXPECT_THAT(AddressError("::1:80"), HasSubstr("needs brackets"));
  EXPECT_THAT(AddressError("[::1"), HasSubstr("no ']'"));
  EXPECT_THAT(AddressError("[::1]80"), HasSubstr("after ']'"));
}

TEST(AddressTest, KnowsLoopbackFromTheRest) {
  const auto is_loopback = [](const char* host) {
    const std::vector<SocketAddress> found = NumericAddresses({host, 7});
    EXPECT_EQ(found.size(), 1U) << host;
    return !found.empty() && found.front().IsLoopback();
  };
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("127.3.2.1"));
  EXPECT_TRUE(is_loopback("localhost"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("::"));
  EXPECT_FALSE(is_loopback("10.0.0.1"));
}

TEST(AddressTest, AnIpv4PortMayBeListenedAtUnderTwoWildcards) {
  const auto wildcards = [](const char* host) {
    std::string all;
    for (const SocketAddress& at : NumericAddresses({host, 80}).front().Wildcards())
      all += at.ToString() + " ";
    return all;
  };
  EXPECT_EQ(wildcards("127.0.0.1"), "[::]:80 0.0.0.0:80 ");
  EXPECT_EQ(wildcards("::1"), "[::]:80 ");
}

TEST(AddressTest, NumericAddressesPrintAsTheyParse) {
  EXPECT_EQ(NumericAddresses({"127.0.0.1", 80}).front().ToString(), "127.0.0.1:80");
  EXPECT_EQ(NumericAddresses({"::1", 80}).front().ToString(), "[::1]:80");
  EXPECT_TRUE(NumericAddresses({"some.host", 80}).empty()) << "a name is no number";
}

}  // namespace
}  // namespace leeway
