#include "transport/loop/poller.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "transport/loop/event_loop.h"

namespace leeway {
namespace {

class PollerTest : public ::testing::Test {
 protected:
  PollerTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    here_ = Descriptor(ends[0]);
    there_ = Descriptor(ends[1]);
  }
  // Watches this end; every call is noted as "r" or "w".
  std::unique_ptr<Poller::Entry> Watch() {
    auto entry = std::make_unique<Poller::Entry>();
    entry->fd = here_.fd();
    entry->readable = [this] { called_ += 'r'; };
    entry->writable = [this] { called_ += 'w'; };
    return entry;
  }
  std::string Look() {
    called_.clear();
    poller_.Wait(/*sleep=*/false);
    poller_.Dispatch([](const std::function<void()>& handler) { handler(); });
    return called_;
  }
  void Write() const { ASSERT_EQ(write(there_.fd(), "x", 1), 1); }

  Descriptor here_, there_;
  Poller poller_;
  std::string called_;
};

TEST_F(PollerTest, AWaitIsForOneCall) {
  auto entry = Watch();
  entry->read_wanted = true;
  poller_.Want(*entry);
  EXPECT_EQ(Look(), "");
  Write();
  EXPECT_EQ(Look(), "r");
  EXPECT_EQ(Look(), "") << "nothing was asked for";
  entry->read_wanted = true;
  poller_.Want(*entry);
  EXPECT_EQ(Look(), "r") << "the byte is still there";
  poller_.Remove(std::move(entry));
}

TEST_F(PollerTest, WhatAHandlerWantsAgainStaysKnownToTheKernel) {
  auto entry = Watch();
  Poller::Entry* const raw = entry.get();
  entry->readable = [this, raw] {
    called_ += 'r';
    EXPECT_NE(raw->known, 0U) << "a system call would be needed to want it again";
    raw->read_wanted = true;
    poller_.Want(*raw);
  };
  entry->read_wanted = true;
  poller_.Want(*entry);
  const std::uint32_t known = entry->known;
  Write();
  EXPECT_EQ(Look(), "r");
  EXPECT_EQ(entry->known, known);
  EXPECT_EQ(Look(), "r");
  poller_.Remove(std::move(entry));
}

TEST_F(PollerTest, WritableIsToldOnceAndReadingGoesOn) {
  auto entry = Watch();
  entry->read_wanted = entry->write_wanted = true;
  poller_.Want(*entry);
  EXPECT_EQ(Look(), "w");
  EXPECT_EQ(Look(), "");
  Write();
  EXPECT_EQ(Look(), "r");
  poller_.Remove(std::move(entry));
}

TEST_F(PollerTest, APeerThatIsGoneIsToldToWhoWaitsAndToNobodyElse) {
  auto entry = Watch();
  there_ = Descriptor();
  EXPECT_EQ(Look(), "") << "nothing is wanted of it";
  entry->write_wanted = true;
  poller_.Want(*entry);
  EXPECT_EQ(Look(), "w");
  // One of which nothing is wanted does not end a wait: only the time does.
  poller_.WakeBy(EventLoop::Now() + std::chrono::milliseconds(5));
  poller_.Wait(/*sleep=*/true);
  EXPECT_TRUE(poller_.TakeTimeFound());
  poller_.Remove(std::move(entry));
}

TEST_F(PollerTest, AHandlerMayRemoveItselfAndOthers) {
  auto first = Watch();
  auto second = Watch();
  second->fd = there_.fd();
  const auto both = [&] {
    called_ += 'b';
    if (first != nullptr) poller_.Remove(std::move(first));
    if (second != nullptr) poller_.Remove(std::move(second));
  };
  first->writable = both;
  second->writable = both;
  first->write_wanted = second->write_wanted = true;
  poller_.Want(*first);
  poller_.Want(*second);
  EXPECT_EQ(Look(), "b") << "both were ready, and the one that came first removed them";
  EXPECT_EQ(Look(), "");
}

TEST_F(PollerTest, TheEarliestTimeEndsAWaitAndIsToldOnce) {
  const TimePoint now = EventLoop::Now();
  poller_.WakeBy(now + std::chrono::hours(1));
  poller_.WakeBy(now + std::chrono::milliseconds(5));
  poller_.WakeBy(now + std::chrono::hours(2));
  poller_.Wait(/*sleep=*/true);
  EXPECT_GE(EventLoop::Now(), now + std::chrono::milliseconds(5));
  EXPECT_TRUE(poller_.TakeTimeFound());
  EXPECT_FALSE(poller_.TakeTimeFound());
}

TEST_F(PollerTest, ATimeThatHasPassedEndsAWait) {
  poller_.WakeBy(TimePoint(Duration::zero()));
  poller_.Wait(/*sleep=*/true);
  EXPECT_TRUE(poller_.TakeTimeFound());
}

TEST_F(PollerTest, AnotherThreadEndsTheNextWaitOrTheOneUnderWay) {
  poller_.Wake();
  poller_.Wait(/*sleep=*/true);
  std::thread other([this] { poller_.Wake(); });
  poller_.Wait(/*sleep=*/true);
  other.join();
  EXPECT_FALSE(poller_.TakeTimeFound());
}

}  // namespace
}  // namespace leeway
