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

// Input that the test hands to the loop, with an eventfd for when it sleeps.
class HandedInput final : public LoopInput {
 public:
  HandedInput() : fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~HandedInput() override { close(fd); }

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
  void Read() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(fd, &count, sizeof count);
  }

  const int fd;
  std::atomic<int> handed{0}, taken{0}, sleeps{0};

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

TEST(TurnTimeTest, GoesOnOutsideOfTurnsAlsoAfterInputThatHadNothing) {
  // Asks for the time, and then has nothing to do.
  class Idle final : public LoopInput {
   public:
    explicit Idle(EventLoop& loop) : loop_(loop) {}
    bool Poll() override {
      asked = loop_.TurnTime();
      return false;
    }
    bool MaySleep() override { return true; }
    void OnAwake() override {}
    TimePoint asked;

   private:
    EventLoop& loop_;
  };
  EventLoop loop;
  Idle idle(loop);
  loop.SetInput(&idle);
  EXPECT_FALSE(loop.RunOnce(Duration::zero()));
  LetTimePass();
  const TimePoint outside = loop.TurnTime();
  EXPECT_GT(outside, idle.asked);
  LetTimePass();
  EXPECT_GT(loop.TurnTime(), outside);
}

class LoopThreadTest : public ::testing::Test {
 protected:
  ~LoopThreadTest() override { End(); }
  void End() {
    loop_.Stop();
    if (thread_.joinable()) thread_.join();
  }
  void Run() {
    thread_ = std::thread([this] { loop_.Run(); });
  }
  static TimePoint In(std::chrono::milliseconds time) { return EventLoop::Now() + time; }
  // The limit only ends a hang.
  static bool Soon(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    return done();
  }

  EventLoop loop_;
  std::thread thread_;
};

TEST_F(LoopThreadTest, ALoopThatSleepsRunsTasksOfOtherThreads) {
  Run();
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> ran{false};
    loop_.Post([&] {
      EXPECT_TRUE(loop_.IsRunner());
      ran = true;
    });
    ASSERT_TRUE(Soon([&] { return ran.load(); })) << i;
  }
  EXPECT_FALSE(loop_.IsRunner());
}

TEST_F(LoopThreadTest, ATaskRunsWhileADescriptorIsAlwaysReady) {
  const AlwaysReady always(loop_);
  Run();
  std::atomic<bool> ran{false};
  loop_.Post([&] { ran = true; });
  EXPECT_TRUE(Soon([&] { return ran.load(); }));
  End();
}

TEST_F(LoopThreadTest, ATaskMayPostWhenItIsLetGo) {
  Run();
  std::atomic<bool> posted{false};
  loop_.Post([held = std::shared_ptr<void>(nullptr, [&](void*) { loop_.Post([&] { posted = true; }); })] {});
  EXPECT_TRUE(Soon([&] { return posted.load(); }));
}

TEST_F(LoopThreadTest, NothingRunsAfterStop) {
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

TEST_F(LoopThreadTest, ATimeThatIsReplacedDoesNotFire) {
  std::atomic<int> fired{0};
  loop_.Post([&] {
    loop_.WakeAt(In(std::chrono::milliseconds(1)), [&] { fired = 1; });
    loop_.WakeAt(In(std::chrono::milliseconds(20)), [&] { fired = 2; });
  });
  Run();
  ASSERT_TRUE(Soon([&] { return fired.load() != 0; }));
  EXPECT_EQ(fired, 2);
}

TEST_F(LoopThreadTest, TheEndOfAPassComesOnceAfterAllItsTurns) {
  std::vector<int> order;
  loop_.SetPassEnd([&] { order.push_back(0); });
  loop_.Post([&] { order.push_back(1); });
  loop_.Post([&] {
    order.push_back(2);
    loop_.Stop();
  });
  loop_.Run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 0}));
}

TEST_F(LoopThreadTest, TasksOfManyThreadsRunOneAtATime) {
  Run();
  constexpr int kThreads = 4, kEach = 1000;
  std::atomic<int> turns{0};
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        loop_.Post([&] {
          EXPECT_EQ(inside.fetch_add(1), 0);
          ++turns;
          inside.fetch_sub(1);
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Soon([&] { return turns.load() == kThreads * kEach; }));
  End();
}

class LoopInputTest : public LoopThreadTest {
 protected:
  void RunWithInput() {
    loop_.SetInput(&input_);
    watch_ = std::make_unique<EventLoop::Watch>(
        loop_, input_.fd,
        [this] {
          input_.Read();
          watch_->WaitReadable();
        },
        [] {});
    watch_->WaitReadable();
    Run();
  }
  ~LoopInputTest() override { End(); }

  HandedInput input_;
  std::unique_ptr<EventLoop::Watch> watch_;
};

TEST_F(LoopInputTest, ALoopThatSleepsIsWokenForInput) {
  RunWithInput();
  ASSERT_TRUE(Soon([&] { return input_.sleeps.load() > 0; }));
  for (int i = 1; i <= 100; ++i) {
    input_.Hand();
    ASSERT_TRUE(Soon([&] { return input_.taken.load() == i; })) << i;
  }
}

TEST_F(LoopInputTest, TasksTimersAndDescriptorsHaveTheirTurnWhileInputAlwaysComes) {
  class Endless final : public LoopInput {
   public:
    bool Poll() override { return true; }
    bool MaySleep() override { return false; }
    void OnAwake() override {}
  };
  Endless endless;
  loop_.SetInput(&endless);
  const int event = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
  std::atomic<bool> fired{false}, read{false};
  {
    EventLoop::Watch watch(
        loop_, event, [&] { read = true; }, [] {});
    watch.WaitReadable();
    Run();
    loop_.Post([&] { loop_.WakeAt(In(std::chrono::milliseconds(1)), [&] { fired = true; }); });
    EXPECT_TRUE(Soon([&] { return fired.load() && read.load(); }));
    End();
  }
  close(event);
}

}  // namespace
}  // namespace leeway
