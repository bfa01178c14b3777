#include "block/updater.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "optimizer/optimizers.h"

namespace leeway {
namespace {

class UpdaterTest : public ::testing::Test {
 protected:
  static PushEvent From(std::uint32_t worker, std::uint64_t base = 1) {
    return {.from = {WorkerId(worker), Incarnation(1)},
            .seq = Seq(1),
            .base_version = Version(base),
            .hyper = {.lr = 1.0F}};
  }
  BufferRef Fill(std::vector<float> values) {
    BufferRef buffer = pool.Take(values.size());
    std::ranges::copy(values, buffer->floats().begin());
    return buffer;
  }
  void Begin(const ApplyMode& apply = {}, bool sums_ahead = false) {
    updater.Follow(apply, sums_ahead);
    ASSERT_EQ(updater.Initialize(Fill({0, 0}), counters), Verdict::kInitialized);
  }
  float value() const { return updater.values().current()->floats()[0]; }

  BufferPool pool{1U << 20};
  OptimizerPtr sgd = *BuiltinOptimizers().MakeFromSpec("sgd");
  BlockCounters counters;
  Updater updater{2, NonFinite::kRefuse, *sgd, pool};
};

constexpr float kNotFinite = std::numeric_limits<float>::quiet_NaN();
constexpr ApplyMode kAggregate{.kind = ApplyMode::Kind::kAggregate};

TEST_F(UpdaterTest, InitialValuesThatDoNotFitOrAreNotFiniteAreRefused) {
  EXPECT_EQ(updater.Initialize(Fill({1, 2, 3}), counters), Verdict::kRefused);
  EXPECT_EQ(updater.Initialize(Fill({1, kNotFinite}), counters), Verdict::kRefused);
  EXPECT_FALSE(updater.values().initialized());
  EXPECT_EQ(updater.Initialize(Fill({1, 2}), counters), Verdict::kInitialized);
  EXPECT_EQ(updater.Initialize(Fill({5, 6}), counters), Verdict::kInitialized);
  EXPECT_EQ(value(), 1.0F) << "the first ones count";
  EXPECT_EQ(counters.no_memory, 0U);
}

TEST_F(UpdaterTest, AGradientIsAppliedAtOnceWithTheShareOfItsMembers) {
  Begin();
  EXPECT_EQ(updater.Push(From(0), Fill({8, 8}), {.members = 4}, counters), Verdict::kApplied);
  EXPECT_EQ(value(), -2.0F);
  EXPECT_EQ(counters.steps, 1U);
  EXPECT_EQ(updater.Push(From(0), Fill({8, kNotFinite}), {.members = 4}, counters), Verdict::kRefused);
  EXPECT_EQ(updater.Push(From(0), Fill({8}), {.members = 4}, counters), Verdict::kRefused);
  EXPECT_EQ(updater.values().version(), Version(2)) << "a refused gradient changes nothing";
}

TEST_F(UpdaterTest, AStaleGradientMakesASmallerStepWhereThatIsAskedFor) {
  Begin({.scale_by_staleness = true});
  (void)updater.Push(From(0), Fill({8, 8}), {.members = 2, .staleness = 2}, counters);
  EXPECT_EQ(value(), -4.0F) << "one iteration old, as all gradients are";
  (void)updater.Push(From(0), Fill({8, 8}), {.members = 2, .staleness = 8}, counters);
  EXPECT_EQ(value(), -5.0F);
}

TEST_F(UpdaterTest, StalenessCountsVersionsSinceTheBaseAndThoseThatComeBefore) {
  Begin();
  for (int i = 0; i < 3; ++i) (void)updater.Push(From(0), Fill({1, 1}), {}, counters);
  EXPECT_EQ(updater.StalenessOf(Version(2), 0), 2U);
  EXPECT_EQ(updater.StalenessOf(Version(4), 3), 3U);
  EXPECT_EQ(updater.StalenessOf(Version(0), 0), std::nullopt) << "no version";
  EXPECT_EQ(updater.StalenessOf(Version(5), 0), std::nullopt) << "not there yet";
}

TEST_F(UpdaterTest, SumsAreAppliedWhenTheirIterationEnds) {
  Begin(kAggregate);
  EXPECT_EQ(updater.Push(From(0), Fill({4, 4}), {.into = Iteration(0)}, counters), Verdict::kSummed);
  EXPECT_EQ(updater.Push(From(1), Fill({8, 8}), {.into = Iteration(1)}, counters), Verdict::kSummed);
  EXPECT_EQ(value(), 0.0F);
  EXPECT_EQ(updater.FirstOpen(), Iteration(0));
  updater.ApplySum(Iteration(0), 2, counters);
  EXPECT_EQ(value(), -2.0F) << "one of two members gave it";
  updater.ApplySum(Iteration(0), 2, counters);
  EXPECT_EQ(counters.steps, 1U) << "nothing is left of it";
  updater.ApplyAllSums(Progress(), 4, counters);
  EXPECT_EQ(value(), -4.0F);
  EXPECT_EQ(updater.FirstOpen(), std::nullopt);
}

TEST_F(UpdaterTest, TheWindowCountsOwnIterationsAndIsOpenWhereThereIsOneSum) {
  IdleIterations idle;
  (void)idle.MarkIdle(Iteration(1));
  updater.Follow(kAggregate, false);
  EXPECT_EQ(updater.WindowEnd(idle), Iteration(3)) << "two open ones, and the idle one between them";
  updater.Follow(kAggregate, true);
  EXPECT_EQ(updater.WindowEnd(idle), kIterationMax);
  updater.Follow({}, false);
  EXPECT_EQ(updater.WindowEnd(idle), kIterationMax);
}

TEST_F(UpdaterTest, AGradientIsCompensatedWhileItsBaseIsKept) {
  Begin({.dc = 0.5F, .dc_versions = 2});
  updater.Sent(WorkerId(0));
  (void)updater.Push(From(1, 7), Fill({2, 2}), {}, counters);
  EXPECT_EQ(counters.uncompensated, 1U) << "nobody was sent version 7";
  (void)updater.Push(From(0), Fill({2, 2}), {}, counters);
  EXPECT_EQ(counters.compensated, 1U);
  EXPECT_EQ(value(), -2.0F - (2.0F + 0.5F * 2 * 2 * -2));
  updater.Forget(WorkerId(0));
  (void)updater.Push(From(0), Fill({2, 2}), {}, counters);
  EXPECT_EQ(counters.uncompensated, 2U);
}

TEST_F(UpdaterTest, AnArrayIsSetOnlyOnTopOfTheVersionThatTheOptimizerMade) {
  Begin();
  (void)updater.Push(From(0), Fill({1, 1}), {}, counters);
  const AssignEvent before{.base_version = Version(1)}, now{.base_version = Version(2)};
  EXPECT_EQ(updater.Assign(before, Fill({9, 9}), counters), Verdict::kLateDropped);
  EXPECT_EQ(updater.Assign(now, Fill({9, kNotFinite}), counters), Verdict::kRefused);
  EXPECT_EQ(updater.Assign(now, Fill({9, 9}), counters), Verdict::kApplied);
  EXPECT_EQ(value(), 9.0F);
  EXPECT_EQ(updater.Assign({.base_version = Version(3), .array = 1}, Fill({9, 9}), counters),
            Verdict::kRefused)
      << "the optimizer has no state";
}

TEST_F(UpdaterTest, SumsAndValuesAreSavedAndLoaded) {
  Begin(kAggregate);
  (void)updater.Push(From(0), Fill({4, 4}), {.into = Iteration(3)}, counters);
  BlockState state;
  updater.Save(state);
  Updater loaded(2, NonFinite::kRefuse, *sgd, pool);
  loaded.Follow(kAggregate, false);
  loaded.Load(state);
  loaded.ApplySum(Iteration(3), 1, counters);
  EXPECT_EQ(loaded.values().current()->floats()[0], -4.0F);
  EXPECT_EQ(value(), 0.0F);
}

}  // namespace
}  // namespace leeway
