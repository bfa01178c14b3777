#include "transport/loop/loop_seat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace leeway {
namespace {

using std::chrono::steady_clock;

// A thread in the seat that lends it as soon as it is asked.
class LoopSeatTest : public ::testing::Test {
 protected:
  LoopSeatTest() : own_([this] { RunOwn(); }) {}
  ~LoopSeatTest() override {
    ended_ = true;
    seat.CallHome();
    own_.join();
  }

  bool Enter() {
    return seat.Enter([this] { ++wakes; });
  }
  static bool Soon(const std::function<bool()>& done) {
    const auto limit = steady_clock::now() + std::chrono::seconds(20);
    while (!done() && steady_clock::now() < limit) std::this_thread::yield();
    return done();
  }
  [[nodiscard]] bool OwnIsBack(int times) {
    return Soon([&] { return returns.load() == times; });
  }

  // Any thread of a test may be kept from a core for long.
  LoopSeat seat{{.park_min = std::chrono::milliseconds(300),
                 .park_max = std::chrono::milliseconds(300),
                 .enter_max = std::chrono::seconds(20)}};
  std::atomic<int> wakes{0};       // of guests that asked the own thread
  std::atomic<int> returns{0};     // of the own thread, to its seat
  std::atomic<bool> calls{false};  // that nobody has made

 private:
  void RunOwn() {
    while (!ended_) {
      if (!seat.wanted()) {
        std::this_thread::yield();
        continue;
      }
      seat.Lend([this] { return calls.load(); });
      ++returns;
    }
    seat.Close();
  }

  std::atomic<bool> ended_{false};
  std::thread own_;  // last: uses the rest
};

TEST_F(LoopSeatTest, AGuestGetsItAndTheOwnThreadHasItBackWhenNobodyComes) {
  ASSERT_TRUE(Enter());
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(returns, 0);
  seat.Leave(false);
  EXPECT_TRUE(OwnIsBack(1));
}

TEST_F(LoopSeatTest, WhoComesBackSoonFindsItFreeAndWakesNobody) {
  // On a busy machine it may take some tries.
  EXPECT_TRUE(Soon([&] {
    if (!Enter()) return false;
    const int asked = wakes;
    seat.Leave(false);
    if (!Enter()) return false;
    seat.Leave(true);
    return wakes == asked;
  }));
}

TEST_F(LoopSeatTest, OneGuestAtATime) {
  ASSERT_TRUE(Enter());
  bool second = true;
  std::thread([&] { second = Enter(); }).join();
  EXPECT_FALSE(second);
  seat.Leave(true);
  EXPECT_TRUE(OwnIsBack(1));
}

TEST_F(LoopSeatTest, WorkForTheOwnThreadTakesAFreeSeatBackAndAnOccupiedOneWhenTheGuestLeaves) {
  ASSERT_TRUE(Enter());
  seat.CallHome();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(returns, 0) << "a guest sits in it";
  seat.Leave(false);
  EXPECT_TRUE(OwnIsBack(1));

  ASSERT_TRUE(Enter());
  seat.Leave(false);
  seat.CallHome();
  EXPECT_TRUE(OwnIsBack(2));
}

TEST_F(LoopSeatTest, CallsThatWereHeldUpMakeItRefuseGuestsMoreOftenEachTime) {
  int back = 0;
  for (int refusals = 1; refusals <= 7; refusals = 2 * refusals + 1) {
    calls = true;
    ASSERT_TRUE(Enter());
    seat.Leave(false);
    ASSERT_TRUE(OwnIsBack(++back));
    calls = false;
    const int asked = wakes;
    for (int i = 0; i < refusals; ++i) EXPECT_FALSE(Enter()) << i << " of " << refusals;
    EXPECT_EQ(wakes, asked);
  }
}

TEST_F(LoopSeatTest, AGuestThatStaysForLongGivesItBackWhenItLeaves) {
  ASSERT_TRUE(Enter());
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // the own thread has looked twice
  EXPECT_EQ(returns, 0);
  seat.Leave(false);
  EXPECT_TRUE(OwnIsBack(1));
}

TEST_F(LoopSeatTest, WhoAsksAtTheVeryMomentThatItIsGivenBackGetsItSoon) {
  int entered = 0;
  for (int i = 0; i < 200; ++i) {
    if (!Enter()) continue;  // between two states that it may be found in
    ++entered;
    seat.Leave(true);
  }
  EXPECT_GT(entered, 100) << "each of the others took 20 s if both slept";
}

TEST_F(LoopSeatTest, AGuestWhoIsNotTheOnlyOneKeepsOthersFromItForAWhile) {
  ASSERT_TRUE(Enter());
  seat.Leave(false, /*crowd=*/true);
  EXPECT_TRUE(OwnIsBack(1));
  for (std::uint32_t i = 0; i < LoopSeat::Options().crowd_refusals; ++i) EXPECT_FALSE(Enter()) << i;
  EXPECT_TRUE(Enter());
  seat.Leave(true);
}

TEST(LoopSeat, AGuestDoesNotWaitLongForAnOwnThreadThatIsBusy) {
  LoopSeat seat;
  int wakes = 0;
  EXPECT_FALSE(seat.Enter([&] {
    ++wakes;
    EXPECT_TRUE(seat.wanted());
  }));
  EXPECT_EQ(wakes, 1);
  EXPECT_FALSE(seat.wanted()) << "it has gone";
}

TEST(LoopSeat, NobodySitsInAClosedOne) {
  LoopSeat seat;
  seat.Close();
  EXPECT_FALSE(seat.Enter([] { FAIL() << "nobody to wake"; }));
}

}  // namespace
}  // namespace leeway
