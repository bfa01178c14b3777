// The addresses that a Connect would try, without a socket.
#include "transport/stream/dialing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/errors.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

std::vector<bool> TriedOverUnix(Dialing& dialing) {
  std::vector<bool> over_unix;
  while (const auto to = dialing.Next()) over_unix.push_back(to->IsUnix());
  return over_unix;
}

TEST(DialingTest, AnAddressOfThisHostIsTriedAtItsUnixSocketsBeforeTcp) {
  const StreamOptions options;
  Dialing dialing(options);
  EXPECT_FALSE(dialing.Begin("127.0.0.1:4000").has_value());
  const std::vector<bool> tried = TriedOverUnix(dialing);
  ASSERT_GE(tried.size(), 2U);
  EXPECT_TRUE(tried.front());
  EXPECT_FALSE(tried.back());
}

TEST(DialingTest, TcpAloneTriesNoUnixSocket) {
  const StreamOptions options{.carrier = Carrier::kTcp};
  Dialing dialing(options);
  EXPECT_FALSE(dialing.Begin("127.0.0.1:4000").has_value());
  EXPECT_EQ(TriedOverUnix(dialing), std::vector<bool>{false});
  Dialing local(options);
  EXPECT_FALSE(local.Begin("local:a").has_value());
  EXPECT_FALSE(local.Next().has_value());
  EXPECT_THAT(local.failure().message(), HasSubstr("the transport is tcp"));
}

TEST(DialingTest, AHostNameIsLookedUpFirst) {
  const StreamOptions options;
  Dialing dialing(options);
  const std::optional<Endpoint> endpoint = dialing.Begin("some.host:4000");
  ASSERT_TRUE(endpoint.has_value());
  EXPECT_EQ(endpoint->ToString(), "some.host:4000");
  EXPECT_FALSE(dialing.Next().has_value());
  EXPECT_THAT(dialing.OnResolved(Unavailable("no such host")).message(),
              HasSubstr("cannot connect to some.host:4000: no such host"));
  EXPECT_TRUE(dialing.OnResolved(std::vector<SocketAddress>()).ok());
  EXPECT_THAT(dialing.failure().message(), HasSubstr("the host has no address"));
}

TEST(DialingTest, TcpSaysMoreThanTheAbsenceOfAUnixSocket) {
  const StreamOptions options;
  Dialing dialing(options);
  (void)dialing.Begin("127.0.0.1:4000");
  const SocketAddress over_unix = *dialing.Next();
  dialing.OnRefused(over_unix, ECONNREFUSED);
  EXPECT_THAT(dialing.failure().message(), HasSubstr("nobody listens there"));
  dialing.OnNotShared(Unavailable("another version"));
  dialing.OnRefused(over_unix, ECONNREFUSED);
  EXPECT_THAT(dialing.failure().message(), HasSubstr("over its Unix socket: another version"));
  dialing.OnRefused(NumericAddresses({"127.0.0.1", 4000}).front(), ECONNRESET);
  EXPECT_THAT(dialing.failure().message(), HasSubstr("reset"));
}

TEST(DialingTest, AConnectThatFailsLaterReplacesAnEarlierFailure) {
  const StreamOptions options;
  Dialing dialing(options);
  (void)dialing.Begin("127.0.0.1:4000");
  dialing.OnNotShared(Unavailable("another version"));
  dialing.OnConnectError(ECONNRESET);
  EXPECT_THAT(dialing.failure().message(), HasSubstr("reset"));
}

TEST(DialingTest, AllUnixSocketsShareTheTimeToGreet) {
  const StreamOptions options{.greeting_max = milliseconds(100)};
  Dialing dialing(options);
  (void)dialing.Begin("127.0.0.1:4000");
  const TimePoint start{};
  EXPECT_EQ(dialing.GreetingTime(start), milliseconds(100));
  EXPECT_EQ(dialing.GreetingTime(start + milliseconds(30)), milliseconds(70));
  EXPECT_EQ(dialing.GreetingTime(start + milliseconds(130)), milliseconds(0));
  dialing.DropUnix();
  EXPECT_EQ(TriedOverUnix(dialing), std::vector<bool>{false});
}

}  // namespace
}  // namespace leeway
