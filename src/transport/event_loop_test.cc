#include "transport/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

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
  const int busy = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);  // never read, so always readable
  std::unique_ptr<EventLoop::Watch> always;
  always = std::make_unique<EventLoop::Watch>(
      loop_, busy, [&] { always->WaitReadable(); }, [] {});
  always->WaitReadable();
  Run();
  work_.Hand();
  EXPECT_TRUE(Soon([&] { return work_.taken.load() == 1; }));
  End();
  always.reset();
  close(busy);
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

}  // namespace
}  // namespace leeway
