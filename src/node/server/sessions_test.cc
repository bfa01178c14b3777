#include "node/server/sessions.h"

#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"

namespace leeway {
namespace {

MemberKey Life(std::uint32_t worker, std::uint32_t incarnation) {
  return {WorkerId(worker), Incarnation(incarnation)};
}

TEST(SessionsTest, TheNewestConnectionOfALifeIsItsSession) {
  Sessions sessions;
  EXPECT_EQ(sessions.Add(ConnectionId(1), Life(3, 1)), ConnectionId{});
  EXPECT_EQ(sessions.Add(ConnectionId(2), Life(3, 1)), ConnectionId(1));
  EXPECT_EQ(sessions.Find(ConnectionId(1)), nullptr);
  EXPECT_EQ(*sessions.Find(ConnectionId(2)), Life(3, 1));
  sessions.Remove(ConnectionId(1));
  EXPECT_EQ(sessions.Of(Life(3, 1)), ConnectionId(2));
  sessions.Remove(ConnectionId(2));
  EXPECT_EQ(sessions.Of(Life(3, 1)), ConnectionId{});
  EXPECT_TRUE(sessions.All().empty());
}

// Lives of a worker may come and go in any order.
TEST(SessionsTest, EveryLifeIsFoundWhateverElseOfItsWorkerIsConnected) {
  Sessions sessions;
  std::map<MemberKey, ConnectionId> wanted;
  for (std::uint64_t step = 1; step <= 5000; ++step) {
    const std::uint64_t bits = Hash64({5, step});
    const MemberKey who =
        Life(static_cast<std::uint32_t>(bits % 3), static_cast<std::uint32_t>(1 + bits / 3 % 4));
    if (bits / 12 % 2 == 0) {
      EXPECT_EQ(sessions.Add(ConnectionId(step), who), wanted[who]);
      wanted[who] = ConnectionId(step);
    } else {
      sessions.Remove(wanted[who]);
      wanted[who] = {};
    }
    std::size_t connected = 0;
    for (const auto& [life, id] : wanted) {
      ASSERT_EQ(sessions.Of(life), id) << "step " << step;
      connected += id != ConnectionId{} ? 1 : 0;
    }
    ASSERT_EQ(sessions.All().size(), connected);
  }
}

}  // namespace
}  // namespace leeway
