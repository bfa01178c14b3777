// Two ends of a pipe in one process, each with its own mapping of both memories.
#include "transport/local/byte_pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace leeway {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

class BytePipeTest : public ::testing::Test {
 protected:
  BytePipeTest() : a(*BytePipe::Make()), b(*BytePipe::Make()) {
    EXPECT_TRUE(a->Join(BytePipe::kMemoryBytes, b->fd()).ok());
    EXPECT_TRUE(b->Join(BytePipe::kMemoryBytes, a->fd()).ok());
  }
  static std::string Taken(BytePipe& pipe, std::size_t at_most = BytePipe::kRingBytes) {
    std::string text(at_most, '?');
    const Result<std::size_t> taken = pipe.Take(std::as_writable_bytes(std::span(text)));
    EXPECT_TRUE(taken.ok()) << taken.status().ToString();
    text.resize(taken.ok() ? *taken : 0);
    return text;
  }

  std::unique_ptr<BytePipe> a, b;
};

TEST_F(BytePipeTest, BytesAreSeenOnceTheyArePublished) {
  EXPECT_EQ(a->Put(Bytes("frames")), 6U);
  EXPECT_FALSE(b->HasBytes());
  a->Publish();
  ASSERT_TRUE(b->HasBytes());
  EXPECT_EQ(Taken(*b, 4), "fram");
  EXPECT_EQ(Taken(*b), "es");
  EXPECT_FALSE(b->HasBytes());
  EXPECT_EQ(Taken(*b), "");
}

TEST_F(BytePipeTest, BothWaysAreApart) {
  a->Put(Bytes("there"));
  a->Publish();
  b->Put(Bytes("back"));
  b->Publish();
  EXPECT_EQ(Taken(*a), "back");
  EXPECT_EQ(Taken(*b), "there");
}

TEST_F(BytePipeTest, AFullRingTakesNoMoreThanWasTakenOutOfIt) {
  const std::string all(BytePipe::kRingBytes + 5, 'x');
  EXPECT_EQ(a->Put(Bytes(all)), BytePipe::kRingBytes);
  EXPECT_EQ(a->Put(Bytes("y")), 0U);
  a->Publish();
  EXPECT_FALSE(a->WaitForRoom());
  EXPECT_EQ(Taken(*b, 3), "xxx");
  EXPECT_TRUE(a->WaitForRoom());
  EXPECT_EQ(a->Put(Bytes("yyyy")), 3U);
}

TEST_F(BytePipeTest, RandomPiecesGoAroundTheRingUnchanged) {
  std::mt19937 random(7);  // NOLINT: the same pieces every time
  std::string sent, got;
  while (sent.size() < 20 * BytePipe::kRingBytes) {
    std::string piece(random() % 40'000, ' ');
    for (char& c : piece) c = static_cast<char>(random());
    piece.resize(a->Put(Bytes(piece)));
    sent += piece;
    a->Publish();
    got += Taken(*b, random() % 50'000);
  }
  while (b->HasBytes()) got += Taken(*b);
  EXPECT_TRUE(got == sent) << got.size() << " of " << sent.size();
}

TEST_F(BytePipeTest, WhoSleepsIsToBeWokenOnceForEachSleep) {
  a->Put(Bytes("1"));
  a->Publish();
  EXPECT_FALSE(a->TakePeerSleeps()) << "it is awake";
  Taken(*b);
  for (int sleep = 0; sleep < 3; ++sleep) {
    ASSERT_TRUE(b->MaySleep());
    a->Put(Bytes("2"));
    a->Publish();
    EXPECT_TRUE(a->TakePeerSleeps());
    EXPECT_FALSE(a->TakePeerSleeps());
    b->OnAwake();
    EXPECT_FALSE(a->TakePeerSleeps());
    Taken(*b);
  }
}

TEST_F(BytePipeTest, WhoHasSomethingToTakeDoesNotSleep) {
  a->Put(Bytes("1"));
  a->Publish();
  EXPECT_FALSE(b->MaySleep());
  EXPECT_FALSE(a->TakePeerSleeps());
  Taken(*b);
  EXPECT_TRUE(b->MaySleep());
}

TEST_F(BytePipeTest, WhoWaitsForRoomIsToBeWokenOnceForEachWait) {
  const std::string all(BytePipe::kRingBytes, 'x');
  for (int wait = 0; wait < 3; ++wait) {
    a->Put(Bytes(all));
    a->Publish();
    ASSERT_FALSE(a->WaitForRoom());
    EXPECT_EQ(Taken(*b, 1).size(), 1U);
    EXPECT_TRUE(b->TakePeerWaits()) << wait;
    EXPECT_FALSE(b->TakePeerWaits());
    EXPECT_EQ(Taken(*b).size(), BytePipe::kRingBytes - 1);
  }
  ASSERT_TRUE(a->WaitForRoom());
  EXPECT_FALSE(b->TakePeerWaits()) << "it found room by itself";
}

TEST_F(BytePipeTest, WhatWasPublishedOutlivesTheEndThatWroteIt) {
  a->Put(Bytes("goodbye"));
  a->Publish();
  a.reset();
  EXPECT_EQ(Taken(*b), "goodbye");
}

// Two threads that sleep, wait and wake as two processes do: whatever the order of their steps, nobody stays
// asleep while there is something for it.
TEST_F(BytePipeTest, NoWakeUpIsLostBetweenTwoThreads) {
  constexpr std::uint64_t kBytes = 30 * BytePipe::kRingBytes;
  std::atomic<int> bells_of_b{0}, bells_of_a{0};
  const auto hear = [](std::atomic<int>& bells) {
    while (bells.exchange(0) == 0) bells.wait(0);
  };
  const auto ring = [](std::atomic<int>& bells) {
    bells.store(1);
    bells.notify_one();
  };
  std::thread writer([&] {
    std::vector<std::byte> piece(777);
    for (std::uint64_t sent = 0; sent < kBytes;) {
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<std::byte>(sent + i);
      const std::size_t put =
          a->Put(std::span(piece).first(std::min<std::uint64_t>(piece.size(), kBytes - sent)));
      if (put == 0) {
        if (!a->WaitForRoom()) hear(bells_of_a);
        continue;
      }
      sent += put;
      a->Publish();
      if (a->TakePeerSleeps()) ring(bells_of_b);
    }
  });
  std::vector<std::byte> space(5'000);
  std::uint64_t got = 0, wrong = 0;
  while (got < kBytes) {
    const Result<std::size_t> taken = b->Take(space);
    ASSERT_TRUE(taken.ok());
    for (std::size_t i = 0; i < *taken; ++i) wrong += space[i] != static_cast<std::byte>(got + i) ? 1 : 0;
    got += *taken;
    if (b->TakePeerWaits()) ring(bells_of_a);
    if (*taken == 0 && b->MaySleep()) {
      hear(bells_of_b);
      b->OnAwake();
    }
  }
  writer.join();
  EXPECT_EQ(wrong, 0U);
}

// A peer whose memory says what it likes.
class LyingPipeTest : public ::testing::Test {
 protected:
  LyingPipeTest() : own(*BytePipe::Make()), memory(*SharedRegion::Make(BytePipe::kMemoryBytes)) {
    head = new (memory.bytes().data()) PipeHead;
    EXPECT_TRUE(own->Join(BytePipe::kMemoryBytes, memory.read_only_fd()).ok());
  }
  std::unique_ptr<BytePipe> own;
  SharedRegion memory;
  PipeHead* head;
};

TEST_F(LyingPipeTest, MoreThanTheRingHoldsIsAnErrorAndNothingIsTaken) {
  std::vector<std::byte> space(100, std::byte{9});
  for (const std::uint64_t written : {BytePipe::kRingBytes + 1, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    head->written = written;
    const Result<std::size_t> taken = own->Take(space);
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.status().code(), StatusCode::kProtocol);
    EXPECT_THAT(taken.status().message(), HasSubstr("wanted at most the 65536"));
  }
  EXPECT_EQ(space[0], std::byte{9});
}

TEST_F(LyingPipeTest, WhoSaysItTookWhatItWasNeverGivenGetsNoMore) {
  EXPECT_EQ(own->Put(Bytes("first")), 5U);
  own->Publish();
  head->taken = 6;
  const std::string all(BytePipe::kRingBytes, 'x');
  EXPECT_EQ(own->Put(Bytes(all)), 0U);
  EXPECT_FALSE(own->WaitForRoom());
}

TEST(BytePipeJoinTest, OnlyMemoryOfTheRightSizeAndKindIsJoinedAndOnce) {
  const std::unique_ptr<BytePipe> own = *BytePipe::Make(), other = *BytePipe::Make();
  EXPECT_THAT(own->Join(BytePipe::kMemoryBytes - 1, other->fd()).message(), HasSubstr("wanted 65728"));
  const Descriptor unsealed(memfd_create("leeway-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_THAT(own->Join(BytePipe::kMemoryBytes, unsealed.fd()).message(), HasSubstr("not sealed"));
  const SharedRegion small = *SharedRegion::Make(4096);
  EXPECT_THAT(own->Join(BytePipe::kMemoryBytes, small.read_only_fd()).message(), HasSubstr("4096"));
  EXPECT_FALSE(own->joined());
  EXPECT_TRUE(own->Join(BytePipe::kMemoryBytes, other->fd()).ok());
  EXPECT_THAT(own->Join(BytePipe::kMemoryBytes, other->fd()).message(), HasSubstr("a second pipe"));
}

}  // namespace
}  // namespace leeway
