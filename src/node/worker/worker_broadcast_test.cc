// Initial values on loan that lie in the table's own buffers: the node lands answers there as well.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class WorkerBroadcastTest : public WorkerRig {
 protected:
  // Joined and placed; nobody has given values yet.
  void PlaceTables() {
    JoinJob();
    CreateTables();
    node->Start(Into(started));
    Control(scheduler, wire::Kind::kTableMap, Map(1));
    ASSERT_TRUE(started.has_value() && started->ok());
    env.transport.sent.clear();
  }
  // The whole of table "w" as both shards have it.
  void AnswerW(std::int64_t progress, std::uint64_t version, float value) {
    Answer(0, 0, progress, version, {value, value});
    Answer(1, 1, progress, version, {value, value});
  }
  // The one Init that went to a shard since it was asked last.
  [[nodiscard]] SentFrame SentInit(std::size_t to) {
    const std::vector<SentFrame> frames = env.transport.TakeSent(shard[to], wire::Kind::kInit);
    EXPECT_EQ(frames.size(), 1U);
    return frames.empty() ? SentFrame{} : frames[0];
  }
};

TEST_F(WorkerBroadcastTest, ValuesInTheBufferInUseAreLentAndItStaysInUseUntilTheyAreTaken) {
  PlaceTables();
  const std::span<const float> front = w_pair.Front();
  std::optional<Status> done, usable;
  node->Broadcast(w, front, nullptr, Into(done));
  EXPECT_THAT(SentInit(0).payload_at, ElementsAre(front.data()));
  node->Sync(w, Into(usable));
  AnswerW(-1, 1, 9);  // another rank was first
  EXPECT_FALSE(usable.has_value()) << "the user would swap, and the next values land in what is on loan";
  EXPECT_TRUE(w_pair.Take());
  EXPECT_EQ(w_pair.Front().data(), front.data());
  Verdict(0, 0, 0, wire::Verdict::kInitialized);
  EXPECT_FALSE(usable.has_value()) << "shard 1 may have to be told again";
  Reconnect(1);
  EXPECT_THAT(SentInit(1).floats(), Each(0.0F)) << "as they were offered";
  Verdict(1, 1, 0, wire::Verdict::kInitialized);
  EXPECT_TRUE(done.has_value() && done->ok());
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), Each(9.0F));
  EXPECT_NE(w_pair.Front().data(), front.data());
}

TEST_F(WorkerBroadcastTest, ASecondOfferOfTheBufferInUseKeepsItToo) {
  StartTables();
  const std::span<const float> front = w_pair.Front();
  std::optional<Status> done;
  node->Broadcast(w, front, nullptr, Into(done));
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  AnswerW(0, 2, 2);
  EXPECT_EQ(w_pair.ready(), Iteration(-1)) << "iteration 1 is here, but not to be shown yet";
  Verdict(0, 0, 0, wire::Verdict::kInitialized);
  Verdict(1, 1, 0, wire::Verdict::kInitialized);
  EXPECT_TRUE(done.has_value() && done->ok());
  EXPECT_EQ(w_pair.ready(), Iteration(0));
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), Each(2.0F));
}

TEST_F(WorkerBroadcastTest, WhereTheUserMaySwapMeanwhileACopyIsLent) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  AnswerW(0, 2, 2);  // waits to be taken
  const std::span<const float> front = w_pair.Front();
  env.transport.sent.clear();
  std::optional<Status> done;
  node->Broadcast(w, front, nullptr, Into(done));
  EXPECT_NE(SentInit(0).payload_at[0], front.data());
  ASSERT_TRUE(w_pair.Take());
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  AnswerW(1, 3, 3);  // lands where the offer lay
  EXPECT_THAT(front, Each(3.0F));
  Reconnect(0);
  EXPECT_THAT(SentInit(0).floats(), Each(1.0F)) << "as they were offered";
}

TEST_F(WorkerBroadcastTest, WhatLiesInTheBufferThatAnswersLandInIsCopied) {
  StartTables();
  const std::span<const float> back = w_pair.Back();  // zeros: what "w" began with
  std::optional<Status> done;
  node->Broadcast(w, back, nullptr, Into(done));
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  AnswerW(0, 2, 2);
  EXPECT_THAT(w_pair.Front(), Each(1.0F));
  Reconnect(0);
  EXPECT_THAT(SentInit(0).floats(), Each(0.0F)) << "as they were offered";
}

TEST_F(WorkerBroadcastTest, MemoryOutsideOfTheBuffersHoldsNothingUpAndIsPinnedUntilAllOfItIsTaken) {
  PlaceTables();
  std::optional<Status> done;
  auto pin = std::make_shared<const int>();
  const std::weak_ptr<const void> held = pin;
  node->Broadcast(w, gradient, std::move(pin), Into(done));
  EXPECT_THAT(SentInit(0).payload_at, ElementsAre(gradient.data()));
  AnswerW(-1, 1, 9);
  EXPECT_EQ(w_pair.ready(), Iteration(-1));
  Verdict(0, 0, 0, wire::Verdict::kInitialized);
  EXPECT_FALSE(done.has_value() || held.expired());
  Verdict(1, 1, 0, wire::Verdict::kInitialized);
  EXPECT_TRUE(done.has_value() && done->ok() && held.expired());
}

}  // namespace
}  // namespace leeway::testing
