#include "transport/loop/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace leeway {
namespace {

// Work that the test hands to the loop, with an eventfd for when it sleeps.
class HandedWork final : public LoopSource {
 public:
  HandedWork() : fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~HandedWork() override { close(fd); }

  void Hand() {
    handed.fetch_add(1);
    if (sleeping.exchange(false)) Write();
  }
  bool Poll() override {
    const int now = handed.load();
    const bool any = now > taken.load();
    taken = now;
    return any;
  }
  bool MaySleep() override {
    ++sleeps;
    sleeping = true;
    if (handed.load() == taken.load()) return true;
    sleeping = false;
    return false;
  }
  void OnAwake() override { sleeping = false; }
  void OnRunner(bool /*here*/) override {}
  [[nodiscard]] bool HasWork() const override { return handed.load() != taken.load(); }
  [[nodiscard]] bool CallersSleep() const override { return false; }
  [[nodiscard]] bool CallersWait() const override { return callers_wait; }
  void Read() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(fd, &count, sizeof count);
  }

  const int fd;
  std::atomic<int> handed{0}, taken{0}, sleeps{0};
  std::atomic<bool> callers_wait{false};

 private:
  void Write() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(fd, &one, sizeof one);
  }
  std::atomic<bool> sleeping{false};
};

// A descriptor that is never read, so always readable, and watched.
class AlwaysReady {
 public:
  explicit AlwaysReady(EventLoop& loop) {
    watch_.emplace(
        loop, fd_, [this] { watch_->WaitReadable(); }, [] {});
    watch_->WaitReadable();
  }
  ~AlwaysReady() {
    watch_.reset();
    close(fd_);
  }
  AlwaysReady(const AlwaysReady&) = delete;
  AlwaysReady& operator=(const AlwaysReady&) = delete;

 private:
  const int fd_ = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
  std::optional<EventLoop::Watch> watch_;
};

void LetTimePass() {
  const TimePoint before = EventLoop::Now();
  while (EventLoop::Now() == before) {
  }
}

TEST(TurnTimeTest, StandsStillDuringATurnAndItsEndAndIsLaterInTheNext) {
  EventLoop loop;
  TimePoint first, second, at_end;
  loop.SetTurnEnd([&] { at_end = loop.TurnTime(); });
  loop.Post([&] {
    first = loop.TurnTime();
    LetTimePass();
    EXPECT_EQ(loop.TurnTime(), first);
    LetTimePass();
  });
  while (loop.RunOnce(Duration::zero())) {
  }
  EXPECT_EQ(at_end, first);
  loop.Post([&] { second = loop.TurnTime(); });
  while (loop.RunOnce(Duration::zero())) {
  }
  EXPECT_GT(second, first);
}

TEST(TurnTimeTest, TwoTurnsOfOnePassHaveEachTheirOwn) {
  EventLoop loop;
  TimePoint first, second;
  loop.Post([&] {
    first = loop.TurnTime();
    LetTimePass();
  });
  loop.Post([&] { second = loop.TurnTime(); });
  while (loop.RunOnce(Duration::zero())) {
  }
  EXPECT_GT(second, first);
}

TEST(TurnTimeTest, GoesOnOutsideOfTurnsAlsoAfterASourceThatHadNothing) {
  // Asks for the time, and then has nothing to do.
  class Idle final : public LoopSource {
   public:
    explicit Idle(EventLoop& loop) : loop_(loop) {}
    bool Poll() override {
      asked = loop_.TurnTime();
      return false;
    }
    bool MaySleep() override { return true; }
    void OnAwake() override {}
    void OnRunner(bool /*here*/) override {}
    [[nodiscard]] bool HasWork() const override { return false; }
    [[nodiscard]] bool CallersSleep() const override { return false; }
    [[nodiscard]] bool CallersWait() const override { return false; }
    TimePoint asked;

   private:
    EventLoop& loop_;
  };
  EventLoop loop;
  Idle idle(loop);
  loop.SetSource(idle);
  EXPECT_FALSE(loop.RunOnce(Duration::zero()));
  LetTimePass();
  const TimePoint outside = loop.TurnTime();
  EXPECT_GT(outside, idle.asked);
  LetTimePass();
  EXPECT_GT(loop.TurnTime(), outside);
}

class LoopSourceTest : public ::testing::Test {
 protected:
  ~LoopSourceTest() override { End(); }
  void End() {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
  }
  void Run() {
    loop_.SetSource(work_);
    watch_ = std::make_unique<EventLoop::Watch>(
        loop_, work_.fd,
        [this] {
          work_.Read();
          watch_->WaitReadable();
        },
        [] {});
    watch_->WaitReadable();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  static bool Soon(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    return done();
  }

  HandedWork work_;
  EventLoop loop_;
  std::unique_ptr<EventLoop::Watch> watch_;
  std::thread thread_;
};

TEST_F(LoopSourceTest, ALoopThatSleepsIsWokenForWork) {
  Run();
  ASSERT_TRUE(Soon([&] { return work_.sleeps.load() > 0; }));
  for (int i = 1; i <= 100; ++i) {
    work_.Hand();
    ASSERT_TRUE(Soon([&] { return work_.taken.load() == i; })) << i;
  }
}

TEST_F(LoopSourceTest, WorkIsTakenWhileADescriptorIsAlwaysReady) {
  const AlwaysReady always(loop_);
  Run();
  work_.Hand();
  EXPECT_TRUE(Soon([&] { return work_.taken.load() == 1; }));
  End();
}

TEST_F(LoopSourceTest, WhatATurnFinishedIsToldBeforeTheLoopSleeps) {
  std::atomic<int> told{0};
  loop_.SetTurnTold([&] { ++told; });
  Run();
  work_.Hand();
  ASSERT_TRUE(Soon([&] { return work_.taken.load() == 1 && told.load() > 0; }));
  EXPECT_TRUE(Soon([&] { return work_.sleeps.load() > 0; }));
  End();
}

class LoopHelpTest : public LoopSourceTest {
 protected:
  static TimePoint In(std::chrono::milliseconds time) { return EventLoop::Now() + time; }
  // Helps until `finished`; tries again while it may not.
  bool HelpUntil(const std::function<bool()>& finished,
                 std::chrono::milliseconds limit = std::chrono::seconds(20)) {
    bool helped = false;
    return Soon([&] { return helped || (helped = loop_.Help(finished, In(limit))); });
  }
};

TEST_F(LoopHelpTest, WhoHelpsRunsTheLoopOnItsOwnThreadUntilItIsFinished) {
  Run();
  std::atomic<bool> ran{false};
  std::thread::id by;
  bool asked = false;
  ASSERT_TRUE(HelpUntil([&] {
    if (!std::exchange(asked, true)) {
      loop_.Post([&] {
        by = std::this_thread::get_id();
        EXPECT_TRUE(loop_.IsRunner());
        ran = true;
      });
    }
    return ran.load();
  }));
  EXPECT_TRUE(ran);
  EXPECT_EQ(by, std::this_thread::get_id());
  EXPECT_FALSE(loop_.IsRunner());
}

TEST_F(LoopHelpTest, ThenTheLoopsOwnThreadGoesOn) {
  Run();
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(HelpUntil([] { return true; }));
    std::atomic<bool> ran{false};
    if (i % 2 == 0) {
      loop_.Post([&] { ran = true; });
      EXPECT_TRUE(Soon([&] { return ran.load(); })) << i;
    }
    work_.Hand();
    EXPECT_TRUE(Soon([&] { return work_.taken.load() == i; }))
        << i << ": work that is handed in while nobody sits there";
  }
}

TEST_F(LoopHelpTest, ItEndsAtItsLimit) {
  Run();
  const TimePoint before = EventLoop::Now();
  ASSERT_TRUE(HelpUntil([] { return false; }, std::chrono::milliseconds(30)));
  EXPECT_GE(EventLoop::Now() - before, std::chrono::milliseconds(29));
}

TEST_F(LoopHelpTest, ItEndsAtItsLimitAlsoIfAnEarlierTimePassesWhileItSpins) {
  Run();
  ASSERT_TRUE(HelpUntil([] { return true; })) << "the thread runs by now";
  int helped = 0;
  for (int i = 0; i < 100; ++i) {
    bool first = true;
    const TimePoint limit = In(std::chrono::milliseconds(2));
    const auto never = [&] {
      if (std::exchange(first, false)) {
        // A time that was replaced by a later one, and comes while this one spins.
        loop_.WakeAt(EventLoop::Now() + std::chrono::microseconds(20 + i), [] {});
        loop_.WakeAt(In(std::chrono::seconds(20)), [] {});
      }
      return false;
    };
    if (!loop_.Help(never, limit)) continue;
    ++helped;
    ASSERT_LT(EventLoop::Now(), limit + std::chrono::seconds(10)) << "it slept until the later one";
  }
  EXPECT_GT(helped, 0);
}

TEST_F(LoopHelpTest, AHelpThatEndsLeavesTheTimerAsItWas) {
  Run();
  std::atomic<bool> fired{false};
  loop_.Post([&] { loop_.WakeAt(In(std::chrono::milliseconds(30)), [&] { fired = true; }); });
  ASSERT_TRUE(HelpUntil([] { return false; }, std::chrono::milliseconds(5)));
  EXPECT_TRUE(Soon([&] { return fired.load(); }));
}

TEST_F(LoopHelpTest, ATaskMayPostWhenItIsLetGo) {
  Run();
  std::atomic<bool> posted{false};
  loop_.Post([held = std::shared_ptr<void>(nullptr, [&](void*) { loop_.Post([&] { posted = true; }); })] {});
  EXPECT_TRUE(Soon([&] { return posted.load(); }));
}

class LoopInputTest : public LoopHelpTest {
 protected:
  void RunWithInput() {
    loop_.SetInput(&input_);
    input_watch_ = std::make_unique<EventLoop::Watch>(
        loop_, input_.fd,
        [this] {
          input_.Read();
          input_watch_->WaitReadable();
        },
        [] {});
    input_watch_->WaitReadable();
    Run();
  }
  ~LoopInputTest() override { End(); }

  HandedWork input_;
  std::unique_ptr<EventLoop::Watch> input_watch_;
};

TEST_F(LoopInputTest, ALoopThatSleepsIsWokenForInput) {
  RunWithInput();
  ASSERT_TRUE(Soon([&] { return input_.sleeps.load() > 0; }));
  for (int i = 1; i <= 100; ++i) {
    input_.Hand();
    ASSERT_TRUE(Soon([&] { return input_.taken.load() == i; })) << i;
    work_.Hand();
    ASSERT_TRUE(Soon([&] { return work_.taken.load() == i; })) << i;
  }
}

TEST_F(LoopInputTest, WorkAndTimersHaveTheirTurnWhileInputAlwaysComes) {
  class Endless final : public LoopInput {
   public:
    bool Poll() override { return true; }
    bool MaySleep() override { return false; }
    void OnAwake() override {}
  };
  Endless endless;
  loop_.SetInput(&endless);
  Run();
  std::atomic<bool> fired{false};
  loop_.Post([&] { loop_.WakeAt(In(std::chrono::milliseconds(1)), [&] { fired = true; }); });
  EXPECT_TRUE(Soon([&] { return fired.load(); }));
  work_.Hand();
  EXPECT_TRUE(Soon([&] { return work_.taken.load() == 1; }));
  End();
}

TEST_F(LoopInputTest, WhoHelpsDoesNotSleepOnceInputHasBroughtWhatItWaitsFor) {
  RunWithInput();
  // Spins that found nothing: the next help does not spin.
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(HelpUntil([] { return false; }, std::chrono::milliseconds(2)));
  bool asked = false, finished = false;
  int before = 0, after = 0;
  ASSERT_TRUE(HelpUntil(
      [&] {
        if (!std::exchange(asked, true)) {
          before = input_.sleeps;
          input_.Hand();
        }
        after = input_.sleeps;
        return finished = input_.taken.load() == input_.handed.load();
      },
      std::chrono::milliseconds(500)));
  EXPECT_TRUE(finished) << "it slept until its limit";
  EXPECT_EQ(after, before);
}

TEST_F(LoopHelpTest, NothingRunsAfterStop) {
  std::atomic<bool> late{false};
  loop_.Post([&] {
    loop_.WakeAt(EventLoop::Now(), [&] { late = true; });
    loop_.Stop();
    loop_.Post([&] { late = true; });
  });
  Run();
  thread_.join();
  EXPECT_FALSE(late);
}

TEST_F(LoopHelpTest, ItEndsAtItsLimitAlsoWhereThereIsAlwaysSomethingToDo) {
  const AlwaysReady always(loop_);
  Run();
  EXPECT_TRUE(HelpUntil([] { return false; }, std::chrono::milliseconds(30)));
  End();
}

TEST_F(LoopHelpTest, WhoWaitsBesideTheHelperIsServedWhenThatLeaves) {
  Run();
  ASSERT_TRUE(HelpUntil([] { return true; }));
  work_.callers_wait = true;
  // Another one has come to wait while this one helps: the loop's own thread takes over, and no one else may
  // for a while.
  ASSERT_TRUE(HelpUntil([] { return true; }));
  EXPECT_FALSE(loop_.Help([] { return true; }, In(std::chrono::seconds(1))));
  work_.callers_wait = false;
}

TEST_F(LoopHelpTest, StopEndsTheHelpAndTheRun) {
  Run();
  std::atomic<bool> helping{false};
  std::thread helper([&] {
    EXPECT_TRUE(HelpUntil([&] {
      helping = true;
      return false;
    }));
  });
  ASSERT_TRUE(Soon([&] { return helping.load(); }));
  End();
  helper.join();
  EXPECT_FALSE(loop_.Help([] { return false; }, In(std::chrono::seconds(20)))) << "it has ended";
}

TEST_F(LoopHelpTest, ATurnCannotHelp) {
  Run();
  std::atomic<int> helped{-1};
  loop_.Post([&] { helped = loop_.Help([] { return true; }, In(std::chrono::seconds(20))) ? 1 : 0; });
  ASSERT_TRUE(Soon([&] { return helped.load() >= 0; }));
  EXPECT_EQ(helped, 0);
}

TEST_F(LoopHelpTest, ManyThreadsHelpAndHandInWork) {
  Run();
  constexpr int kThreads = 4, kRounds = 100;
  std::atomic<int> turns{0};
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        std::atomic<bool> done{false};
        loop_.Post([&] {
          EXPECT_EQ(inside.fetch_add(1), 0) << "one thread at a time";
          ++turns;
          inside.fetch_sub(1);
          done = true;
        });
        work_.Hand();
        while (!done) {
          if (!loop_.Help([&] { return done.load(); }, In(std::chrono::milliseconds(5))))
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, kThreads * kRounds);
  EXPECT_TRUE(Soon([&] { return work_.taken.load() == kThreads * kRounds; }));
}

}  // namespace
}  // namespace leeway
