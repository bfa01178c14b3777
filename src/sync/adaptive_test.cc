// The models whose threshold follows the workers' pace: dsps and dssp.
#include <gtest/gtest.h>

#include "sync/testing/fake_progress.h"

namespace leeway {
namespace {

// The lowest progress - v_train at which worker 0 waits.
std::int64_t ThresholdOf(AskedModel& model) {
  std::int64_t s = 0;
  while (s < 100 && model.Pull(model.v_train + s)) ++s;
  return s;
}

TEST(DspsTest, TheThresholdIsTheSlownessLessOneWithinItsBounds) {
  struct Case {
    std::int64_t slowest_ns, fastest_ns, s;
  };
  for (const Case& c : {Case{100, 100, 1}, Case{249, 100, 1}, Case{300, 100, 2}, Case{351, 100, 3},
                        Case{600, 100, 5}, Case{10'000, 100, 6}, Case{50, 100, 1}}) {
    AskedModel model("dsps:1,6,10");
    model.progress.last_slowest = 3;
    model.progress.last_fastest = 0;
    model.progress.interval_ns = {{0, c.fastest_ns}, {3, c.slowest_ns}};
    EXPECT_EQ(ThresholdOf(model), c.s) << c.slowest_ns << " to " << c.fastest_ns;
  }
}

TEST(DspsTest, ItIsFoundAnewEveryIterationsOnly) {
  AskedModel model("dsps:0,9,10");
  model.progress.last_slowest = 3;
  model.progress.last_fastest = 0;
  model.v_train = 20;
  model.progress.interval_ns = {{0, 100}, {3, 400}};
  EXPECT_EQ(ThresholdOf(model), 3);
  model.progress.interval_ns[3] = 800;
  model.v_train = 29;
  EXPECT_EQ(ThresholdOf(model), 3);
  model.v_train = 30;
  EXPECT_EQ(ThresholdOf(model), 7);
  model.progress.interval_ns[3] = 100;
  EXPECT_EQ(ThresholdOf(model), 7);
}

TEST(DspsTest, WithoutAPaceItIsLoAndThenWhatItWas) {
  AskedModel model("dsps:2,9,10");
  EXPECT_EQ(ThresholdOf(model), 2);
  model.progress.last_slowest = 3;
  model.progress.last_fastest = 0;
  model.progress.interval_ns = {{0, 100}};
  EXPECT_EQ(ThresholdOf(model), 2);
  model.progress.interval_ns[3] = 500;
  EXPECT_EQ(ThresholdOf(model), 4) << "found as soon as both are known";
  model.progress.last_slowest.reset();  // it has left
  model.v_train = 50;
  EXPECT_EQ(ThresholdOf(model), 4);
}

TEST(DspsTest, AThresholdOfOtherBoundsIsForgotten) {
  AskedModel wide("dsps:0,9,10"), narrow("dsps:0,4,10");
  wide.progress.last_slowest = 3;
  wide.progress.last_fastest = 0;
  wide.progress.interval_ns = {{0, 100}, {3, 900}};
  EXPECT_EQ(ThresholdOf(wide), 8);
  narrow.memory = wide.memory;
  EXPECT_EQ(ThresholdOf(narrow), 0);
}

// A fast worker (100 ns an iteration) and a slow one (1000 ns) that pushed at 0; the fast one asks at `now`.
AskedModel FastAndSlow(const char* spec, std::int64_t now_ns) {
  AskedModel model(spec);
  model.progress.last_slowest = 1;
  model.progress.interval_ns = {{0, 100}, {1, 1000}};
  model.now_ns = now_ns;
  return model;
}

TEST(DsspTest, TheGrantEndsJustBeforeTheSlowestPushes) {
  struct Case {
    std::int64_t now_ns, grant;
  };
  for (const Case& c : {Case{300, 7},     // 7 more end at 1000, when the slowest pushes
                        Case{350, 6},     // 6 end at 950, 50 before; 7 would end 50 behind and wait for 2000
                        Case{900, 1},     //
                        Case{1000, 0},    // it pushes now
                        Case{1250, 7},    // overdue: its next is expected at 2000
                        Case{100, 8}}) {  // 9 would be best, hi allows 8
    AskedModel model = FastAndSlow("dssp:2,10", c.now_ns);
    std::int64_t progress = 2;  // v_train is 0: just at lo
    while (progress < 50 && model.Pull(progress)) ++progress;
    EXPECT_EQ(progress - 2, c.grant) << "at " << c.now_ns;
    EXPECT_FALSE(model.Pull(progress)) << "asked again it gets the same word";
    if (c.grant > 0) {
      EXPECT_TRUE(model.Pull(2)) << "the first one too";
    }
  }
}

TEST(DsspTest, WithoutAPaceItIsSspWithLo) {
  for (const int missing : {0, 1, 2}) {
    AskedModel model = FastAndSlow("dssp:2,10", 300);
    if (missing < 2) model.progress.interval_ns.erase(static_cast<std::uint32_t>(missing));
    if (missing == 2) model.progress.last_slowest.reset();
    EXPECT_TRUE(model.Pull(1)) << missing;
    EXPECT_FALSE(model.Pull(2)) << missing;
  }
}

TEST(DsspTest, AGrantIsGivenAnewWhenTheWorkerReachesLoAgain) {
  AskedModel model = FastAndSlow("dssp:1,9", 900);
  EXPECT_TRUE(model.Pull(1));
  EXPECT_FALSE(model.Pull(2)) << "one more was granted";
  // The slowest pushed, twice; the worker goes on and meets lo again at progress 3.
  model.v_train = 2;
  model.advanced_at_ns = 2000;
  model.now_ns = 2100;
  EXPECT_TRUE(model.Pull(2));
  EXPECT_TRUE(model.Pull(3)) << "8 more are granted";
  EXPECT_TRUE(model.Pull(10));
  EXPECT_FALSE(model.Pull(11)) << "hi";
}

TEST(DsspTest, EachWorkerHasItsOwnGrantAndMemoryIsBounded) {
  AskedModel model = FastAndSlow("dssp:2,10", 300);
  model.progress.interval_ns[7] = 700;
  EXPECT_TRUE(model.Pull(2, 0));
  EXPECT_TRUE(model.Pull(2, 7)) << "one more ends at 1000";
  EXPECT_FALSE(model.Pull(3, 7));
  EXPECT_TRUE(model.Pull(3, 0));
  EXPECT_EQ(model.memory.size(), 1U + 8U * 4U);
  for (std::uint32_t rank = 0; rank < 100'000; rank += 97) {
    model.progress.interval_ns[rank] = 700;
    (void)model.Pull(2, rank);
  }
  EXPECT_LE(model.memory.size(), 1U + 4096U * 4U);
}

TEST(DsspTest, IterationsBeyondFourBillionHaveLeaveToo) {
  AskedModel model = FastAndSlow("dssp:2,10", 800);
  model.v_train = (std::int64_t{1} << 32) - 4;
  const std::int64_t at = model.v_train + 2;
  EXPECT_TRUE(model.Pull(at));
  EXPECT_TRUE(model.Pull(at + 1));
  EXPECT_FALSE(model.Pull(at + 2));
}

TEST(DsspTest, LoEqualToHiIsSsp) {
  AskedModel model = FastAndSlow("dssp:3,3", 300);
  EXPECT_EQ(ThresholdOf(model), 3);
}

}  // namespace
}  // namespace leeway
