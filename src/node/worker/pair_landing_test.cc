#include "node/worker/pair_landing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace leeway {
namespace {

// A table of two blocks of two elements, fed by hand.
class PairLandingTest : public ::testing::Test {
 protected:
  PairLandingTest() {
    landing.AddBlock(0, 2);
    landing.AddBlock(2, 2);
  }
  void Land(std::size_t block, std::int64_t progress, std::uint64_t version, float value) {
    PairLanding::Place place = landing.Begin(block);
    std::fill(place.values.begin(), place.values.end(), value);
    landing.Arrived(block, Iteration(progress), Version(version), place.staged);
  }
  // Both blocks, shown and taken.
  void LandAndTake(std::int64_t progress, std::uint64_t version, float value) {
    Land(0, progress, version, value);
    Land(1, progress, version, value);
    ASSERT_TRUE(landing.PublishIfWhole(Iteration(progress)));
    ASSERT_TRUE(pair.Take());
  }
  std::vector<float> front() const { return {pair.Front().begin(), pair.Front().end()}; }
  using Values = std::vector<float>;

  ParameterPair pair{4, nullptr, nullptr};
  BufferPool pool{1 << 20};
  PairLanding landing{pair, pool};
};

TEST_F(PairLandingTest, ATableIsShownOnlyWhenEveryBlockIsHere) {
  Land(0, -1, 1, 7.0F);
  EXPECT_FALSE(landing.PublishIfWhole(Iteration(-1)));
  EXPECT_TRUE(pair.BackIsFree());
  Land(1, -1, 1, 8.0F);
  EXPECT_EQ(front(), (Values{0, 0, 0, 0})) << "answers land in the back, never in the front";
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(-1)));
  EXPECT_EQ(pair.ready(), Iteration(-1));
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{7, 7, 8, 8}));
  EXPECT_EQ(landing.InUse(0), Version(1));
}

TEST_F(PairLandingTest, ATableWithoutAnyGradientReadsAsEmpty) {
  LandAndTake(0, 1, 1.0F);
  EXPECT_EQ(pair.Read().size(), 4U);
  for (std::size_t block : {0, 1}) landing.ArrivedWithout(block, Iteration(1), Version(2));
  EXPECT_EQ(pair.Read().size(), 4U) << "the front stays what it is";
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(1)));
  EXPECT_TRUE(pair.Take());
  EXPECT_TRUE(pair.Read().empty());
  EXPECT_EQ(landing.InUse(0), Version(2));
  LandAndTake(2, 3, 3.0F);
  EXPECT_EQ(pair.Read().size(), 4U);
}

TEST_F(PairLandingTest, ABlockWithoutAGradientIsZerosBesideOneThatHasOne) {
  LandAndTake(0, 1, 1.0F);
  Land(0, 1, 2, 5.0F);
  landing.ArrivedWithout(1, Iteration(1), Version(2));
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(1)));
  // The back is published and not taken: what comes next lands aside.
  for (std::size_t block : {0, 1}) landing.ArrivedWithout(block, Iteration(2), Version(3));
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{5, 5, 0, 0}));
  EXPECT_EQ(pair.Read().size(), 4U);
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(2)));
  EXPECT_TRUE(pair.Take());
  EXPECT_TRUE(pair.Read().empty());
}

TEST_F(PairLandingTest, ABlockThatDidNotChangeIsCopiedFromTheFront) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 5.0F);
  EXPECT_TRUE(landing.Unchanged(1, Iteration(0), Version(1)));
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(0)));
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{5, 5, 1, 1}));
  EXPECT_EQ(landing.InUse(0), Version(2));
  EXPECT_EQ(landing.InUse(1), Version(1));
}

TEST_F(PairLandingTest, NothingNewOnlyExtends) {
  LandAndTake(-1, 1, 1.0F);
  EXPECT_TRUE(landing.Unchanged(0, Iteration(0), Version(1)));
  EXPECT_TRUE(landing.Unchanged(1, Iteration(0), Version(1)));
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(0)));
  EXPECT_EQ(pair.ready(), Iteration(0));
  EXPECT_TRUE(pair.BackIsFree()) << "there is nothing to swap";
}

TEST_F(PairLandingTest, UnchangedAgainstAVersionThatIsNotHeldIsRefused) {
  LandAndTake(-1, 1, 1.0F);
  EXPECT_FALSE(landing.Unchanged(0, Iteration(0), Version(9)));
  EXPECT_EQ(landing.arrived(0), Iteration(-1));
}

TEST_F(PairLandingTest, AnUntakenVersionIsReplacedByCopyAndNeverMixed) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 2.0F);
  Land(1, 0, 2, 2.0F);
  ASSERT_TRUE(landing.PublishIfWhole(Iteration(0)));  // the user does not take it
  const PairLanding::Place place = landing.Begin(0);
  EXPECT_NE(place.staged, nullptr) << "the back holds a whole version: land elsewhere";
  std::fill(place.values.begin(), place.values.end(), 3.0F);
  landing.Arrived(0, Iteration(1), Version(3), place.staged);
  EXPECT_EQ(landing.Held(0), Version(3));
  EXPECT_TRUE(landing.Unchanged(1, Iteration(1), Version(2)));
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(1)));
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{3, 3, 2, 2}));
}

TEST_F(PairLandingTest, AStagedBlockSurvivesThatTheUserTakesTheVersionBefore) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 2.0F);
  Land(1, 0, 2, 2.5F);
  ASSERT_TRUE(landing.PublishIfWhole(Iteration(0)));
  Land(0, 1, 3, 3.0F);       // staged
  ASSERT_TRUE(pair.Take());  // the user takes version 2
  EXPECT_EQ(front(), (Values{2, 2, 2.5, 2.5}));
  EXPECT_EQ(landing.Held(1), Version(2));
  Land(1, 1, 3, 3.5F);  // straight into the back
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(1)));
  EXPECT_EQ(front(), (Values{2, 2, 2.5, 2.5})) << "what is in use stays";
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{3, 3, 3.5, 3.5}));
}

TEST_F(PairLandingTest, ALandingThatWasCutOffLeavesTheBlockUnarrived) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 2.0F);
  const PairLanding::Place half = landing.Begin(1);
  half.values[0] = 99.0F;  // and then the connection is lost
  EXPECT_FALSE(landing.PublishIfWhole(Iteration(0)));
  EXPECT_EQ(landing.Held(1), Version(1)) << "the front still has the version before";
  EXPECT_TRUE(landing.Unchanged(1, Iteration(0), Version(1)));
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(0)));
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{2, 2, 1, 1})) << "half of a block must not be seen";
}

TEST_F(PairLandingTest, HalfALandingOverAnEqualVersionIsMadeGoodFromTheFront) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 2.0F);
  ASSERT_TRUE(landing.Unchanged(1, Iteration(0), Version(1)));
  ASSERT_TRUE(landing.PublishIfWhole(Iteration(0)));
  ASSERT_TRUE(pair.Take());            // both buffers hold version 1 of block 1 now
  landing.Begin(1).values[0] = 99.0F;  // and then the connection is lost
  Land(0, 1, 3, 3.0F);
  ASSERT_TRUE(landing.Unchanged(1, Iteration(1), Version(1)));
  ASSERT_TRUE(landing.PublishIfWhole(Iteration(1)));
  ASSERT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{3, 3, 1, 1}));
}

TEST_F(PairLandingTest, ASecondLandingOverAnArrivedBlockTakesItBackUntilItIsWhole) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 2.0F);
  const PairLanding::Place again = landing.Begin(0);
  EXPECT_EQ(landing.arrived(0), Iteration(-1));
  Land(1, 1, 3, 3.0F);
  EXPECT_FALSE(landing.PublishIfWhole(Iteration(0))) << "block 0 is being overwritten";
  std::fill(again.values.begin(), again.values.end(), 3.0F);
  landing.Arrived(0, Iteration(1), Version(3), again.staged);
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(0)));
  EXPECT_EQ(pair.ready(), Iteration(1));
}

TEST_F(PairLandingTest, VersionsThatNoIterationNeedsAreNotShown) {
  LandAndTake(-1, 1, 1.0F);
  Land(0, 0, 2, 2.0F);
  Land(1, 0, 2, 2.0F);
  EXPECT_FALSE(landing.PublishIfWhole(Iteration(1)));
  EXPECT_TRUE(pair.BackIsFree()) << "the next answers land in place";
  Land(0, 1, 3, 3.0F);
  Land(1, 1, 3, 3.0F);
  EXPECT_TRUE(landing.PublishIfWhole(Iteration(1)));
  EXPECT_EQ(pair.ready(), Iteration(1));
}

TEST_F(PairLandingTest, AForgottenVersionIsNotTakenForANewOneOfTheSameNumber) {
  LandAndTake(0, 5, 7.0F);
  LandAndTake(1, 6, 8.0F);
  landing.Forget(0);
  EXPECT_GT(landing.Held(0), Version(1'000'000)) << "no version of the new owner";
  EXPECT_EQ(landing.InUse(0), Version(0));
  EXPECT_FALSE(landing.Unchanged(0, Iteration(2), Version(6)));
  Land(1, 2, 7, 9.0F);
  Land(0, 2, 5, 1.0F);
  ASSERT_TRUE(landing.PublishIfWhole(Iteration(2)));
  ASSERT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{1, 1, 9, 9}));
  // The other buffer holds version 5 of the owner before: not the same.
  Land(1, 3, 8, 10.0F);
  ASSERT_TRUE(landing.Unchanged(0, Iteration(3), Version(5)));
  ASSERT_TRUE(landing.PublishIfWhole(Iteration(3)));
  ASSERT_TRUE(pair.Take());
  EXPECT_EQ(front(), (Values{1, 1, 10, 10}));
}

}  // namespace
}  // namespace leeway
