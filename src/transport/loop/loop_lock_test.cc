#include "transport/loop/loop_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace leeway {
namespace {

using std::chrono::steady_clock;

// A thread that holds the lock and lends it as soon as it is asked.
class LoopLockTest : public ::testing::Test {
 protected:
  LoopLockTest() : own_([this] { RunOwn(); }) {}
  ~LoopLockTest() override {
    ended_ = true;
    lock.Reclaim();
    own_.join();
  }

  bool Acquire() {
    return lock.Acquire([this] { ++wakes; });
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
  LoopLock lock{{.park_min = std::chrono::milliseconds(300),
                 .park_max = std::chrono::milliseconds(300),
                 .acquire_max = std::chrono::seconds(20)}};
  std::atomic<int> wakes{0};       // of guests that asked the own thread
  std::atomic<int> returns{0};     // of the lock, to the own thread
  std::atomic<bool> calls{false};  // that nobody has made

 private:
  void RunOwn() {
    while (!ended_) {
      if (!lock.wanted()) {
        std::this_thread::yield();
        continue;
      }
      lock.Lend([this] { return calls.load(); });
      ++returns;
    }
    lock.Close();
  }

  std::atomic<bool> ended_{false};
  std::thread own_;  // last: uses the rest
};

TEST_F(LoopLockTest, AGuestGetsItAndTheOwnThreadHasItBackWhenNobodyComes) {
  ASSERT_TRUE(Acquire());
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(returns, 0);
  lock.Release(false);
  EXPECT_TRUE(OwnIsBack(1));
}

TEST_F(LoopLockTest, WhoComesBackSoonFindsItFreeAndWakesNobody) {
  // On a busy machine it may take some tries.
  EXPECT_TRUE(Soon([&] {
    if (!Acquire()) return false;
    const int asked = wakes;
    lock.Release(false);
    if (!Acquire()) return false;
    lock.Release(true);
    return wakes == asked;
  }));
}

TEST_F(LoopLockTest, OneGuestAtATime) {
  ASSERT_TRUE(Acquire());
  bool second = true;
  std::thread([&] { second = Acquire(); }).join();
  EXPECT_FALSE(second);
  lock.Release(true);
  EXPECT_TRUE(OwnIsBack(1));
}

TEST_F(LoopLockTest, WorkForTheOwnThreadTakesAFreeLockBackAndAHeldOneWhenTheGuestReleasesIt) {
  ASSERT_TRUE(Acquire());
  lock.Reclaim();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(returns, 0) << "a guest holds it";
  lock.Release(false);
  EXPECT_TRUE(OwnIsBack(1));

  ASSERT_TRUE(Acquire());
  lock.Release(false);
  lock.Reclaim();
  EXPECT_TRUE(OwnIsBack(2));
}

TEST_F(LoopLockTest, CallsThatWereHeldUpMakeItRefuseGuestsMoreOftenEachTime) {
  int back = 0;
  for (int refusals = 1; refusals <= 7; refusals = 2 * refusals + 1) {
    calls = true;
    ASSERT_TRUE(Acquire());
    lock.Release(false);
    ASSERT_TRUE(OwnIsBack(++back));
    calls = false;
    const int asked = wakes;
    for (int i = 0; i < refusals; ++i) EXPECT_FALSE(Acquire()) << i << " of " << refusals;
    EXPECT_EQ(wakes, asked);
  }
}

TEST_F(LoopLockTest, AGuestThatStaysForLongGivesItBackWhenItLeaves) {
  ASSERT_TRUE(Acquire());
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // the own thread has looked twice
  EXPECT_EQ(returns, 0);
  lock.Release(false);
  EXPECT_TRUE(OwnIsBack(1));
}

TEST_F(LoopLockTest, WhoAsksAtTheVeryMomentThatItIsGivenBackGetsItSoon) {
  int entered = 0;
  for (int i = 0; i < 200; ++i) {
    if (!Acquire()) continue;  // between two states that it may be found in
    ++entered;
    lock.Release(true);
  }
  EXPECT_GT(entered, 100) << "each of the others took 20 s if both slept";
}

TEST_F(LoopLockTest, AGuestWhoIsNotTheOnlyOneKeepsOthersFromItForAWhile) {
  ASSERT_TRUE(Acquire());
  lock.Release(false, /*crowd=*/true);
  EXPECT_TRUE(OwnIsBack(1));
  for (std::uint32_t i = 0; i < LoopLock::Options().crowd_refusals; ++i) EXPECT_FALSE(Acquire()) << i;
  EXPECT_TRUE(Acquire());
  lock.Release(true);
}

TEST(LoopLock, AGuestDoesNotWaitLongForAnOwnThreadThatIsBusy) {
  LoopLock lock;
  int wakes = 0;
  EXPECT_FALSE(lock.Acquire([&] {
    ++wakes;
    EXPECT_TRUE(lock.wanted());
  }));
  EXPECT_EQ(wakes, 1);
  EXPECT_FALSE(lock.wanted()) << "it has gone";
}

TEST(LoopLock, NobodyAcquiresAClosedOne) {
  LoopLock lock;
  lock.Close();
  EXPECT_FALSE(lock.Acquire([] { FAIL() << "nobody to wake"; }));
}

}  // namespace
}  // namespace leeway
