#include "node/server/held_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "block/buffer_pool.h"
#include "node/testing/fake_env.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MemberKey kWorker{WorkerId(3), Incarnation(1)};
constexpr std::size_t kElements = 4;
constexpr std::uint64_t kOneBlock = kElements * sizeof(float);

class HeldAnswersTest : public ::testing::Test {
 protected:
  void Pull(std::uint32_t block, std::uint32_t ask) { held->OnPull(kWorker, BlockId(block), Ask(ask)); }
  void Answer(std::uint32_t block, std::uint32_t ask, bool unchanged = false) {
    wire::AnswerEntry entry;
    entry.block = BlockId(block);
    entry.ask = Ask(ask);
    entry.SetWhole(unchanged ? 0 : kOneBlock);
    held->Hold(kWorker, entry, unchanged ? nullptr : ConstBufferRef(pool.Take(kElements)));
  }
  // The blocks of the next frame; empty if none may leave.
  std::vector<std::uint32_t> Next(std::uint64_t bytes_max = kOneBlock) {
    std::vector<std::uint32_t> blocks;
    wire::Answers answers;
    std::vector<Pinned> payload;
    if (!held->TakeFrame(kWorker, bytes_max, answers, payload)) return blocks;
    for (const wire::AnswerEntry& entry : answers.entries) blocks.push_back(entry.block.value());
    std::ranges::move(payload, std::back_inserter(on_their_way));
    return blocks;
  }
  // The transport is done with all frames.
  void Leave() {
    on_their_way.clear();
    world.Advance(Duration::zero());
  }

  FakeEnv world;
  BufferPool pool{0, world.env.arena};
  int asked = 0;
  std::vector<Pinned> on_their_way;
  std::unique_ptr<HeldAnswers> held = std::make_unique<HeldAnswers>(world.env.timers, [this] { ++asked; });
};

TEST_F(HeldAnswersTest, TwoFramesAtATimeLeaveInTheOrderOfTheAnswers) {
  for (const std::uint32_t block : {7U, 5U, 6U, 4U}) Pull(block, 0);
  for (const std::uint32_t block : {7U, 5U, 6U, 4U}) Answer(block, 0);
  EXPECT_THAT(Next(2 * kOneBlock), ElementsAre(7, 5));
  EXPECT_THAT(Next(), ElementsAre(6));
  EXPECT_THAT(Next(), IsEmpty()) << "two are on their way";
  EXPECT_EQ(asked, 0);
  (void)held->TakeReady();
  Leave();
  EXPECT_EQ(asked, 1);
  EXPECT_THAT(held->TakeReady(), ::testing::Contains(kWorker));
  EXPECT_THAT(Next(), ElementsAre(4));
  Leave();
  EXPECT_EQ(asked, 1) << "nothing more waits";
  EXPECT_EQ(held->withdrawn(), 0U);
}

TEST_F(HeldAnswersTest, ANewerPullTakesBackWhatHasNotLeft) {
  for (const std::uint32_t block : {0U, 1U, 2U, 3U}) Pull(block, 0);
  for (const std::uint32_t block : {0U, 1U, 2U, 3U}) Answer(block, 0);
  EXPECT_THAT(Next(), ElementsAre(0));
  EXPECT_THAT(Next(), ElementsAre(1));
  for (const std::uint32_t block : {0U, 1U, 2U}) Pull(block, 1);
  EXPECT_EQ(held->withdrawn(), 1U) << "blocks 0 and 1 were on their way";
  Leave();
  EXPECT_THAT(Next(), ElementsAre(3));
  Leave();
  Answer(2, 1);
  EXPECT_THAT(Next(), ElementsAre(2)) << "the newer pull has its answer";
}

TEST_F(HeldAnswersTest, ARepeatedPullTakesNothingBack) {
  Pull(1, 4);
  Answer(1, 4);
  Pull(1, 4);
  EXPECT_EQ(held->withdrawn(), 0U);
  Answer(1, 4);
  EXPECT_THAT(Next(2 * kOneBlock), ElementsAre(1)) << "once";
}

TEST_F(HeldAnswersTest, AnswersWithoutValuesWaitForNobody) {
  Pull(1, 0);
  Answer(1, 0, true);
  EXPECT_THAT(Next(), ElementsAre(1));
  Answer(1, 1, true);
  EXPECT_THAT(Next(), ElementsAre(1)) << "nothing tells when a frame without a payload has left";
}

TEST_F(HeldAnswersTest, OnlyAWorkerThatWantsItHasAnswersHeld) {
  EXPECT_FALSE(held->IsFor(kWorker));
  Pull(1, 0);
  EXPECT_TRUE(held->IsFor(kWorker));
  EXPECT_FALSE(held->IsFor({WorkerId(3), Incarnation(2)})) << "another life";
  Answer(1, 0);
  held->Forget(kWorker);
  EXPECT_FALSE(held->IsFor(kWorker));
  EXPECT_THAT(Next(), IsEmpty());
}

TEST_F(HeldAnswersTest, FramesMayOutliveTheConnectionAndTheNode) {
  for (const std::uint32_t block : {1U, 2U, 3U}) Pull(block, 0);
  for (const std::uint32_t block : {1U, 2U, 3U}) Answer(block, 0);
  EXPECT_THAT(Next(), ElementsAre(1));
  EXPECT_THAT(Next(), ElementsAre(2));
  held->Forget(kWorker);
  Pull(1, 0);
  Answer(1, 0);
  Leave();
  EXPECT_EQ(asked, 0) << "the frame was of the connection before";
  EXPECT_THAT(Next(), ElementsAre(1));
  held.reset();
  Leave();
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace leeway::testing
