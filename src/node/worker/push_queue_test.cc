#include "node/worker/push_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace leeway {
namespace {

// Sends all that may be sent and gives their sequences.
std::vector<std::uint64_t> SendAll(PushQueue& queue) {
  std::vector<std::uint64_t> sent;
  while (const QueuedPush* next = queue.Next()) {
    sent.push_back(next->seq.value());
    queue.MarkSent();
  }
  return sent;
}

PushQueue QueueOf(int pushes) {
  PushQueue queue;
  for (int i = 0; i < pushes; ++i) queue.Append(Iteration(i), std::make_shared<LentPush>(), Version(1), 100);
  return queue;
}

using Seqs = std::vector<std::uint64_t>;

TEST(PushQueueTest, SequencesAreDenseFromOneAndAtMostFourFly) {
  PushQueue queue = QueueOf(6);
  EXPECT_EQ(SendAll(queue), (Seqs{1, 2, 3, 4}));
  EXPECT_EQ(queue.bytes_in_flight(), 400U);
  EXPECT_FALSE(queue.all_sent());
  ASSERT_TRUE(queue.Settle(Seq(1)).value().has_value());
  EXPECT_EQ(queue.bytes_in_flight(), 300U);
  EXPECT_EQ(SendAll(queue), (Seqs{5}));
}

TEST(PushQueueTest, ARepeatedVerdictSettlesNothing) {
  PushQueue queue = QueueOf(2);
  SendAll(queue);
  EXPECT_TRUE(queue.Settle(Seq(1)).value().has_value());
  EXPECT_FALSE(queue.Settle(Seq(1)).value().has_value());
  EXPECT_TRUE(queue.Settle(Seq(2)).value().has_value());
  EXPECT_FALSE(queue.Settle(Seq(2)).value().has_value());
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes_in_flight(), 0U);
}

TEST(PushQueueTest, AVerdictThatSkipsAPushBreaksTheProtocol) {
  PushQueue queue = QueueOf(2);
  SendAll(queue);
  EXPECT_EQ(queue.Settle(Seq(2)).status().code(), StatusCode::kProtocol);
  EXPECT_EQ(queue.Settle(Seq(9)).status().code(), StatusCode::kProtocol);
  EXPECT_EQ(QueueOf(0).Settle(Seq(1)).status().code(), StatusCode::kProtocol);
  PushQueue unsent = QueueOf(1);
  EXPECT_EQ(unsent.Settle(Seq(1)).status().code(), StatusCode::kProtocol);
}

TEST(PushQueueTest, AGapIsFilledFromTheLastTakenOn) {
  PushQueue queue = QueueOf(3);
  SendAll(queue);
  ASSERT_TRUE(queue.Settle(Seq(1)).ok());
  queue.OnGap(Seq(1));
  EXPECT_EQ(queue.bytes_in_flight(), 0U);
  EXPECT_EQ(SendAll(queue), (Seqs{2, 3}));
  queue.OnGap(Seq(1));
  EXPECT_EQ(SendAll(queue), Seqs{}) << "the second gap was caused by sends before the resend";
}

TEST(PushQueueTest, AGapOutsideTheQueueAsksForNothing) {
  PushQueue queue = QueueOf(3);
  SendAll(queue);
  ASSERT_TRUE(queue.Settle(Seq(1)).ok());
  queue.OnGap(Seq(0));
  queue.OnGap(Seq(3));
  EXPECT_EQ(SendAll(queue), Seqs{});
}

TEST(PushQueueTest, AWindowHoldsEverythingBehindItUntilOpen) {
  PushQueue queue = QueueOf(4);
  SendAll(queue);
  ASSERT_TRUE(queue.Settle(Seq(1)).ok());
  queue.OnWindow(Seq(2));
  EXPECT_TRUE(queue.held());
  queue.OnGap(Seq(1));  // what was pipelined behind the held one
  EXPECT_EQ(SendAll(queue), Seqs{});
  EXPECT_EQ(queue.bytes_in_flight(), 0U);
  queue.OnOpen();
  EXPECT_EQ(SendAll(queue), (Seqs{2, 3, 4}));
  queue.OnGap(Seq(1));
  EXPECT_EQ(SendAll(queue), Seqs{}) << "this gap, too, was caused by sends before the window opened";
}

TEST(PushQueueTest, AnOpenWithoutAWindowChangesNothing) {
  PushQueue queue = QueueOf(2);
  SendAll(queue);
  queue.OnOpen();
  EXPECT_EQ(SendAll(queue), Seqs{});
}

TEST(PushQueueTest, AReconnectResendsAllWithoutAVerdictInOrder) {
  PushQueue queue = QueueOf(5);
  SendAll(queue);
  ASSERT_TRUE(queue.Settle(Seq(1)).ok());
  queue.OnWindow(Seq(3));
  queue.OnReconnect();
  EXPECT_FALSE(queue.held());
  ASSERT_NE(queue.Next(), nullptr);
  EXPECT_EQ(queue.Next()->seq, Seq(2));
  EXPECT_TRUE(queue.MarkSent()) << "it was sent before";
  EXPECT_EQ(SendAll(queue), (Seqs{3, 4, 5}));
}

TEST(PushQueueTest, AMovedBlockWaitsForItsNewPlace) {
  PushQueue queue = QueueOf(2);
  SendAll(queue);
  queue.OnMoved();
  EXPECT_EQ(SendAll(queue), Seqs{});
  queue.OnReconnect();
  EXPECT_EQ(SendAll(queue), (Seqs{1, 2}));
}

TEST(PushQueueTest, UnderANewTermWhatWaitsIsNumberedFromWhatTheOwnerHas) {
  PushQueue queue = QueueOf(5);
  SendAll(queue);
  for (const std::uint64_t seq : {1, 2, 3}) ASSERT_TRUE(queue.Settle(Seq(seq)).value().has_value());
  EXPECT_EQ(queue.Resume(Seq(1)), 2U) << "2 and 3 had their verdicts";
  EXPECT_EQ(queue.front().iteration, Iteration(3));
  EXPECT_EQ(SendAll(queue), (Seqs{2, 3}));
  EXPECT_TRUE(queue.Settle(Seq(2)).value().has_value());
  queue.Append(Iteration(5), nullptr, Version(1), 0);
  EXPECT_EQ(SendAll(queue), (Seqs{4}));
}

TEST(PushQueueTest, UnderANewTermWhatTheOwnerTookAlreadyIsSentAgainAsItWas) {
  PushQueue queue = QueueOf(3);
  SendAll(queue);
  ASSERT_TRUE(queue.Settle(Seq(1)).value().has_value());
  EXPECT_EQ(queue.Resume(Seq(2)), 0U);
  EXPECT_EQ(SendAll(queue), (Seqs{2, 3})) << "the verdict of 2 is told again";
  PushQueue empty = QueueOf(0);
  EXPECT_EQ(empty.Resume(Seq(0)), 0U);
}

TEST(PushQueueTest, UnderANewTermNobodyKnowsOnWhichVersionWhatWaitsIsBased) {
  PushQueue queue;
  for (int i = 0; i < 3; ++i) queue.Append(Iteration(i), nullptr, Version(7), 0);
  SendAll(queue);
  ASSERT_TRUE(queue.Settle(Seq(1)).value().has_value());
  (void)queue.Resume(Seq(0));
  EXPECT_EQ(queue.front().base_version, Version(0)) << "version 7 was another one there";
  queue.Append(Iteration(3), nullptr, Version(5), 0);
  (void)queue.Resume(Seq(2));
  while (queue.Next() != nullptr) {
    EXPECT_EQ(queue.Next()->base_version, Version(0)) << "also if it keeps its place";
    queue.MarkSent();
  }
}

}  // namespace
}  // namespace leeway
