#include "terminal/screen.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

namespace leeway::app {
namespace {

class ScreenTest : public ::testing::Test {
 protected:
  ScreenTest() {
    std::array<int, 2> fds{};
    EXPECT_EQ(pipe2(fds.data(), O_CLOEXEC), 0);
    read_ = Descriptor(fds[0]);
    write_ = Descriptor(fds[1]);
  }

  void SetNonBlocking(bool on) const { fcntl(write_.fd(), F_SETFL, on ? O_NONBLOCK : 0); }
  void FillThePipe() const {
    SetNonBlocking(true);
    while (write(write_.fd(), "x", 1) == 1) {
    }
    SetNonBlocking(false);
  }

  Descriptor read_, write_;
};

TEST_F(ScreenTest, AStuckReaderIsNotWaitedForWhenSomeoneAsksToStop) {
  const Descriptor stop(eventfd(1, EFD_CLOEXEC));  // readable
  Screen screen(false, stop.fd());
  FillThePipe();
  screen.Line(write_.fd(), "[w0] ", "dropped");  // the test is that this returns
}

TEST_F(ScreenTest, ATerminalThatTakesNothingDelaysNoBar) {
  int master = -1;
  int slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  const Descriptor reader(master);
  const Descriptor terminal(slave);
  fcntl(terminal.fd(), F_SETFL, O_NONBLOCK);
  while (write(terminal.fd(), "x", 1) == 1) {
  }
  const Descriptor own(dup(STDERR_FILENO));
  ASSERT_EQ(dup2(terminal.fd(), STDERR_FILENO), STDERR_FILENO);
  {
    Screen screen(true);
    for (int i = 0; i < 1000; ++i) screen.Bar("50%");  // the test is that this returns
    screen.Hurry(std::chrono::milliseconds(0));
  }
  dup2(own.fd(), STDERR_FILENO);
}

TEST_F(ScreenTest, WhatHasRoomIsWrittenThoughSomeoneAsksToStop) {
  const Descriptor stop(eventfd(1, EFD_CLOEXEC));
  Screen screen(false, stop.fd());
  screen.Line(write_.fd(), "[w0] ", "last words");
  std::array<char, 64> bytes{};
  const ssize_t n = read(read_.fd(), bytes.data(), bytes.size());
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(bytes.data(), static_cast<std::size_t>(n)), "[w0] last words\n");
}

TEST_F(ScreenTest, AtTheEndAStuckReaderIsWaitedForOnceNotForEveryLine) {
  Screen screen(false);
  FillThePipe();
  const auto begin = std::chrono::steady_clock::now();
  screen.Hurry();
  for (int i = 0; i < 100; ++i) screen.Line(write_.fd(), "", "dropped");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10 * Screen::kHurry);
}

TEST_F(ScreenTest, ANonBlockingOutputLosesNothing) {
  SetNonBlocking(true);
  const std::string line(1'000'000, 'x');  // more than a pipe holds
  std::size_t got = 0;
  std::thread reader([&] {
    std::array<char, 4096> bytes{};
    for (ssize_t n = 0; (n = read(read_.fd(), bytes.data(), bytes.size())) > 0;)
      got += static_cast<std::size_t>(n);
  });
  Screen screen(false);
  screen.Line(write_.fd(), "", line);
  write_ = Descriptor();
  reader.join();
  EXPECT_EQ(got, line.size() + 1);
}

}  // namespace
}  // namespace leeway::app
