#include "system/signal_inbox.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace leeway::app {
namespace {

bool IsReadable(int fd) {
  pollfd ask{fd, POLLIN, 0};
  return poll(&ask, 1, 0) == 1;
}

// As after `nohup`. A blocked signal would be queued although nobody wants it.
TEST(SignalInboxTest, AnIgnoredSignalStaysIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    Result<SignalInbox> inbox = SignalInbox::Open({SIGHUP, SIGTERM});
    ASSERT_TRUE(inbox.ok());
    raise(SIGHUP);
    raise(SIGTERM);
    EXPECT_EQ(inbox->Next(), SIGTERM);
    EXPECT_EQ(inbox->Next(), std::nullopt);
  }
  std::signal(SIGHUP, before);
}

TEST(SignalInboxTest, WhatComesAfterTheEndDoesNotEndTheProcess) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    Result<SignalInbox> inbox = SignalInbox::Open({SIGTERM});
    ASSERT_TRUE(inbox.ok());
    inbox->StayBlocked();
    raise(SIGTERM);
  }
  // Still here, and it still waits.
  sigset_t waiting;
  sigpending(&waiting);
  EXPECT_TRUE(sigismember(&waiting, SIGTERM));
  const auto handled = std::signal(SIGTERM, SIG_IGN);  // which drops it
  std::signal(SIGTERM, handled);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(SignalInboxTest, AWatchIsReadableForItsSignalsOnlyAndUntilTheyAreTaken) {
  Result<SignalInbox> inbox = SignalInbox::Open({SIGTERM, SIGCHLD});
  ASSERT_TRUE(inbox.ok());
  const Result<Descriptor> watch = SignalInbox::Watch({SIGTERM});
  ASSERT_TRUE(watch.ok());
  raise(SIGCHLD);
  EXPECT_FALSE(IsReadable(watch->fd()));
  EXPECT_EQ(inbox->Next(), SIGCHLD);
  raise(SIGTERM);
  EXPECT_TRUE(IsReadable(watch->fd()));
  EXPECT_EQ(inbox->Next(), SIGTERM);
  EXPECT_FALSE(IsReadable(watch->fd()));
}

}  // namespace
}  // namespace leeway::app
