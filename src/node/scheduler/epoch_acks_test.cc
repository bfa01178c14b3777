#include "node/scheduler/epoch_acks.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(EpochAcksTest, RunsWhatWaitsOnceTheLastShardIsThere) {
  EpochAcks acks(2);
  std::vector<int> ran;
  acks.When(Epoch(2), ConnectionId(1), [&] { ran.push_back(2); });
  acks.When(Epoch(3), ConnectionId(1), [&] { ran.push_back(3); });
  acks.Ack(ShardId(0), Epoch(3));
  EXPECT_TRUE(ran.empty());
  acks.Ack(ShardId(1), Epoch(2));
  EXPECT_EQ(ran, std::vector{2});
  EXPECT_EQ(acks.acked_by_all(), Epoch(2));
  acks.Ack(ShardId(1), Epoch(3));
  EXPECT_EQ(ran, (std::vector{2, 3}));
}

TEST(EpochAcksTest, RunsAtOnceWhatIsInForceAlready) {
  EpochAcks acks(1);
  acks.Ack(ShardId(0), Epoch(5));
  bool ran = false;
  acks.When(Epoch(5), ConnectionId(1), [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(EpochAcksTest, AnOlderAckTakesNothingBack) {
  EpochAcks acks(1);
  acks.Ack(ShardId(0), Epoch(5));
  acks.Ack(ShardId(0), Epoch(4));
  EXPECT_EQ(acks.acked_by_all(), Epoch(5));
}

TEST(EpochAcksTest, ForgetsWhatALostConnectionWaitedFor) {
  EpochAcks acks(1);
  int ran = 0;
  acks.When(Epoch(1), ConnectionId(1), [&] { ++ran; });
  acks.When(Epoch(1), ConnectionId(2), [&] { ran += 10; });
  acks.Forget(ConnectionId(1));
  acks.Ack(ShardId(0), Epoch(1));
  EXPECT_EQ(ran, 10);
}

}  // namespace
}  // namespace leeway
