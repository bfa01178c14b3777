// Steps that know how old a gradient is (immediate:scale=staleness, immediate:dc=...), and their counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "block/kept_versions.h"
#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

void PushBasedOn(HandFedBlock& block, std::uint32_t worker, std::int64_t iteration, std::uint64_t base,
                 const std::vector<float>& gradient) {
  PushEvent push = block.NextPush(worker, iteration);
  push.base_version = Version(base);
  block.Feed(push, gradient);
}

TEST(BlockStalenessTest, AStepIsDividedByTheIterationsThatWerePassedSinceItsBase) {
  HandFedBlock block({.sync = "asp", .apply = "immediate:scale=staleness", .optimizer = "sgd"});
  block.Begin(2);
  for (int i = 0; i < 6; ++i) PushBasedOn(block, 0, i, block->version().value(), {0, 0});
  ASSERT_EQ(block->version(), Version(7));
  PushBasedOn(block, 1, 0, 1, {6, 12});
  EXPECT_THAT(block.values(), ElementsAre(-1.0F, -2.0F)) << "6 / N = 3, and 6 versions are 3 iterations of 2";
  PushBasedOn(block, 1, 1, 8, {6, 12});
  EXPECT_THAT(block.values(), ElementsAre(-4.0F, -8.0F)) << "nothing came in between: a full step";
  PushBasedOn(block, 1, 2, 0, {2, 2});
  EXPECT_THAT(block.values(), ElementsAre(-5.0F, -9.0F)) << "a base that nobody named is no old one";
  PushBasedOn(block, 1, 3, 99, {2, 2});
  EXPECT_THAT(block.values(), ElementsAre(-6.0F, -10.0F)) << "nor is one that is not there yet";
}

TEST(BlockStalenessTest, OffByDefault) {
  HandFedBlock block({.sync = "asp", .optimizer = "sgd"});
  block.Begin(2);
  for (int i = 0; i < 6; ++i) PushBasedOn(block, 0, i, 1, {0, 0});
  PushBasedOn(block, 1, 0, 1, {6, 12});
  EXPECT_THAT(block.values(), ElementsAre(-3.0F, -6.0F));
  EXPECT_EQ(block->counters().compensated + block->counters().uncompensated, 0U);
}

TEST(BlockStalenessTest, UnderImmediateItIsTheVersionsSinceItsBase) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  for (int i = 0; i < 40; ++i) PushBasedOn(block, 0, i, block->version().value(), {0, 0});
  EXPECT_THAT(block.staleness(0), ElementsAre(0, 40)) << "of 40 gradients, each on the newest values";
  PushBasedOn(block, 1, 0, block->version().value() - 3, {0, 0});
  EXPECT_THAT(block.staleness(1), ElementsAre(3, 1)) << "however far worker 0 is ahead";
  PushBasedOn(block, 1, 1, 1, {0, 0});
  EXPECT_THAT(block.staleness(1), ElementsAre(3 + 41, 2));
  PushBasedOn(block, 1, 2, 0, {0, 0});
  PushBasedOn(block, 1, 3, 1000, {0, 0});
  EXPECT_THAT(block.staleness(1), ElementsAre(44, 2)) << "bases that nobody knows say nothing";
}

TEST(BlockStalenessTest, UnderAggregateItIsTheVersionsBeforeTheOneThatItChanges) {
  HandFedBlock block({.sync = "ssp:2,late=apply", .apply = "aggregate:window=4"});
  block.Begin(2);
  for (int i = 0; i < 3; ++i) PushBasedOn(block, 0, i, 1, {0, 0});
  EXPECT_THAT(block.staleness(0), ElementsAre(0 + 1 + 2, 3)) << "two iterations are applied before the third";
  for (int i = 0; i < 3; ++i) PushBasedOn(block, 1, i, block->version().value(), {0, 0});
  EXPECT_THAT(block.staleness(1), ElementsAre(0, 3));
  ASSERT_EQ(block->v_train(), Iteration(3));
  PushBasedOn(block, 0, 3, 1, {0, 0});
  EXPECT_THAT(block.staleness(0), ElementsAre(3 + 3, 4))
      << "three versions since its base, none before its own";
}

TEST(BlockStalenessTest, UnderBspThereIsNone) {
  HandFedBlock block({.sync = "bsp"});
  block.Begin(2);
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t base = block->version().value();
    PushBasedOn(block, 0, i, base, {1, 1});
    PushBasedOn(block, 1, i, base, {1, 1});
  }
  EXPECT_THAT(block.staleness(0), ElementsAre(0, 5));
  EXPECT_THAT(block.staleness(1), ElementsAre(0, 5));
}

TEST(BlockStalenessTest, LeadIsCountedWithEveryAnswer) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  for (int i = 0; i < 40; ++i) block.Push(0, i);
  block.Push(1, 0);
  block.Push(1, 1);
  block.Pull(1, 1);
  block.Pull(0, 6);
  block.Pull(0, 39);
  const auto& lead = block->counters().lead_read.buckets;
  EXPECT_EQ(lead[0], 1U);
  EXPECT_EQ(lead[5], 1U) << "7 - v_train of 2";
  EXPECT_EQ(lead[16], 1U);
}

// DC-ASGD, one value, in plain words.
TEST(BlockStalenessTest, ADelayedGradientIsCompensatedAsThePlainReferenceDoes) {
  constexpr float kLambda = 0.5F;
  HandFedBlock block({.sync = "asp", .apply = "immediate:dc=0.5", .optimizer = "sgd", .elements = 1});
  block.Begin(3);
  std::vector<double> history = {0.0, 0.0};  // by version
  std::vector<std::uint64_t> base(3, 1);
  std::uint64_t random = 7;
  for (std::uint32_t w = 0; w < 3; ++w) block.Pull(w, -1);
  for (int i = 0; i < 60; ++i) {
    random = Mix64(random);
    const auto worker = static_cast<std::uint32_t>(random % 3);
    const auto g = static_cast<float>(UnitInterval(Mix64(random)) * 2.0 - 1.0);
    PushBasedOn(block, worker, i, base[worker], {g});
    const double w_now = history.back(), gd = static_cast<double>(g);
    const double moved = gd + static_cast<double>(kLambda) * gd * gd * (w_now - history[base[worker]]);
    history.push_back(w_now - moved / 3.0);
    ASSERT_NEAR(static_cast<double>(block.values()[0]), history.back(), 1e-5) << i;
    block.Pull(worker, i);
    base[worker] = block->version().value();
  }
  EXPECT_EQ(block->counters().compensated, 60U);
  EXPECT_EQ(block->counters().uncompensated, 0U);
}

TEST(BlockStalenessTest, ABaseThatIsNotKeptIsSteppedOnAsItIsAndCounted) {
  HandFedBlock block(
      {.sync = "asp", .apply = "immediate:dc=1,dc_versions=1", .optimizer = "sgd", .elements = 1});
  block.Begin(2);
  block.Pull(0, -1);
  block.Pull(1, -1);
  PushBasedOn(block, 0, 0, 1, {2});
  EXPECT_EQ(block->counters().compensated, 1U);
  block.Pull(0, 0);  // drives version 1 out
  PushBasedOn(block, 1, 0, 1, {2});
  EXPECT_THAT(block.values(), ElementsAre(-2.0F));
  EXPECT_EQ(block->counters().uncompensated, 1U);
}

TEST(BlockStalenessTest, WhatAWorkerIsSentAsItGoesIsKeptForNobody) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate:dc=1", .optimizer = "sgd", .elements = 1});
  block.Begin(3);
  block.Push(1, 0, {1});
  block.Pull(1, 0);
  block.Forget();
  block.Leave(1).Roster();
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 1 p0 v0 r2"));
  block.Push(0, 0, {1});
  PushBasedOn(block, 2, 0, 2, {1});
  EXPECT_EQ(block->counters().compensated, 0U) << "version 2 was sent to nobody who is left";
}

TEST(BlockStalenessTest, ASwitchTurnsCompensationOnAndOff) {
  HandFedBlock block({.sync = "asp", .optimizer = "sgd", .elements = 1});
  block.Begin(2);
  const auto turn = [&](int i) {
    const std::uint64_t base = block->version().value();
    block.Pull(0, i - 1);
    block.Push(1, i, {1});
    PushBasedOn(block, 0, i, base, {1});
  };
  block.Switch("asp", "immediate:dc=1");
  turn(0);
  EXPECT_EQ(block->counters().compensated, 1U);
  EXPECT_EQ(block->counters().uncompensated, 1U) << "worker 1 named no base";
  block.Switch("asp", "immediate");
  turn(1);
  EXPECT_EQ(block->counters().compensated + block->counters().uncompensated, 2U);
}

TEST(BlockStalenessTest, AGradientThatWasTakenBackIsNotCountedAndItsBasesStay) {
  std::atomic<std::uint64_t> word{1};
  HandFedBlock block({.sync = "asp", .apply = "immediate:dc=1", .optimizer = "sgd", .elements = 1});
  block.Begin(2);
  block.Pull(0, -1);
  block.Push(1, 0, {1});  // and names no base
  block.Pull(0, -1);      // version 2 is under way, version 1 may still be in use
  const std::vector<float> lent = {2};
  PushEvent torn = block.NextPush(0, 0);
  torn.base_version = Version(2);
  block->OnPush(torn, Gradient(lent, {&word, 2}), TimePoint());
  EXPECT_EQ(block->counters().compensated, 0U);
  EXPECT_EQ(block->counters().uncompensated, 1U) << "that of worker 1";
  torn.base_version = Version(1);
  block->OnPush(torn, Gradient(lent, {&word, 1}), TimePoint());
  EXPECT_EQ(block->counters().compensated, 1U) << "the same seq, whole: its base is still kept";
}

TEST(BlockStalenessTest, CompensationRefusesNoGoodGradientAndNoBadOneIsLetIn) {
  HandFedBlock block({.sync = "asp", .apply = "immediate:dc=1", .optimizer = "sgd", .elements = 1});
  block.Begin(1);
  block.Pull(0, -1);
  PushBasedOn(block, 0, 0, 1, {1});
  block.Forget();
  PushBasedOn(block, 0, 1, 1, {1e30F});
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#2 v2")) << "its square is too large for a float";
  EXPECT_EQ(block->counters().uncompensated, 1U);
  PushBasedOn(block, 0, 2, 1, {std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(block.Heard(), ElementsAre("REFUSED 0#3 v3"));
}

TEST(KeptVersionsTest, KeepsWhatIsInUseAndNoMoreThanTheLimit) {
  BufferPool pool(1U << 20);
  KeptVersions kept;
  kept.Sent(WorkerId(0), Version(1), pool.Take(1));
  EXPECT_EQ(kept.size(), 0U) << "off until it has a limit";
  kept.SetLimit(3);
  kept.Sent(WorkerId(0), Version(1), pool.Take(1));
  kept.Sent(WorkerId(1), Version(1), pool.Take(1));
  EXPECT_EQ(kept.size(), 1U);
  kept.Sent(WorkerId(0), Version(2), pool.Take(1));
  kept.Sent(WorkerId(0), Version(3), pool.Take(1));
  EXPECT_NE(kept.Find(Version(1)), nullptr) << "worker 1 has it";
  EXPECT_NE(kept.Find(Version(2)), nullptr) << "worker 0 may still compute on it";
  kept.Used(WorkerId(0), Version(3));
  EXPECT_EQ(kept.Find(Version(2)), nullptr);
  kept.Forget(WorkerId(1));
  EXPECT_EQ(kept.Find(Version(1)), nullptr);
  EXPECT_EQ(kept.size(), 1U);
  for (std::uint32_t w = 0; w < 6; ++w) kept.Sent(WorkerId(w), Version(10 + w), pool.Take(1));
  EXPECT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept.Find(Version(12)), nullptr) << "the newest are kept";
  EXPECT_NE(kept.Find(Version(13)), nullptr);
  for (std::uint32_t w = 0; w < 6; ++w) kept.Forget(WorkerId(w));
  EXPECT_EQ(kept.size(), 0U);
}

}  // namespace
}  // namespace leeway
