#include "process/user_waits.h"

#include <gtest/gtest.h>

#include <thread>

namespace leeway {
namespace {

constexpr auto kOpen = [](Ticket) { return false; };
constexpr auto kEnded = [](Ticket) { return true; };

TEST(UserWaitsTest, AThreadWaitsUntilItsCallHasEnded) {
  UserWaits waits;
  EXPECT_FALSE(waits.AnyWaits(kOpen));
  waits.Enter(7, true);
  EXPECT_TRUE(waits.AnyWaits([](Ticket ticket) { return ticket != 7; }));
  EXPECT_FALSE(waits.AnyWaits(kEnded)) << "its thread has not noticed yet";
  waits.Leave();
  EXPECT_FALSE(waits.AnyWaits(kOpen));
  EXPECT_FALSE(waits.SeveralWaited());
}

TEST(UserWaitsTest, AWaitIsOneAlsoAfterAnotherThreadHasWaited) {
  UserWaits waits;
  waits.Enter(1, true);
  waits.Leave();
  std::thread([&] {
    waits.Enter(2, true);
    waits.Leave();
  }).join();
  EXPECT_TRUE(waits.SeveralWaited());
  EXPECT_FALSE(waits.AnyWaits(kOpen));
  waits.Enter(3, true);
  EXPECT_TRUE(waits.AnyWaits(kOpen)) << "or it counts as idle inside a barrier";
  std::thread([&] { waits.Enter(4, true); }).join();
  EXPECT_TRUE(waits.AnyWaits(kEnded)) << "ticket 4 has ended, and ticket 3 may be open";
}

TEST(UserWaitsTest, AThreadThatJoinsNeedNotBeTheOneThatTrains) {
  UserWaits waits;
  std::thread([&] {
    waits.Enter(1, false);
    EXPECT_TRUE(waits.AnyWaits(kOpen));
    waits.Leave();
  }).join();
  waits.Enter(2, true);
  EXPECT_FALSE(waits.SeveralWaited());
}

}  // namespace
}  // namespace leeway
