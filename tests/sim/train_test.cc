// reduce=ordered: the same bits under any network fault; without it the order of arrival shows.
#include "sim/workloads/train.h"

#include <gtest/gtest.h>

#include <cstring>

namespace leeway::sim {
namespace {

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TrainReport Train(const char* optimizer, const char* apply, std::uint64_t seed) {
  TrainReport report = RunTrain({.problem = 5, .seed = seed, .apply = apply, .optimizer = optimizer});
  for (const std::string& problem : report.problems) ADD_FAILURE() << "seed " << seed << ": " << problem;
  return report;
}

constexpr std::uint64_t kWorlds = 12;

TEST(TrainTest, OrderedSumsGiveTheSameBitsUnderAnyDelaysAndReconnects) {
  for (const char* optimizer : {"sgd", "momentum", "adam"}) {
    const TrainReport first = Train(optimizer, "aggregate:reduce=ordered", 1);
    ASSERT_EQ(first.values.size(), 197U);
    std::uint64_t cuts = first.cuts;
    for (std::uint64_t seed = 2; seed <= kWorlds; ++seed) {
      const TrainReport other = Train(optimizer, "aggregate:reduce=ordered", seed);
      EXPECT_NE(other.trace_hash, first.trace_hash);
      EXPECT_TRUE(SameBits(other.values, first.values)) << optimizer << " in world " << seed;
      cuts += other.cuts;
    }
    EXPECT_GT(cuts, 20U) << "connections were lost and made again";
  }
}

TEST(TrainTest, WithoutOrderTheBitsDependOnWhoCameFirst) {
  for (const char* optimizer : {"sgd", "adam"}) {
    const TrainReport first = Train(optimizer, "aggregate", 1);
    std::uint64_t different = 0;
    for (std::uint64_t seed = 2; seed <= kWorlds; ++seed) {
      different += SameBits(Train(optimizer, "aggregate", seed).values, first.values) ? 0 : 1;
    }
    EXPECT_GT(different, 0U) << optimizer;
  }
}

TEST(TrainTest, ValuesAndStateThatOneRankSetsCountOnceInEveryWorld) {
  for (const char* optimizer : {"sgd", "momentum", "adam"}) {
    const auto train = [&](std::uint64_t seed, std::int64_t halve_at) {
      TrainReport report =
          RunTrain({.problem = 5, .seed = seed, .optimizer = optimizer, .halve_at = halve_at});
      for (const std::string& problem : report.problems) ADD_FAILURE() << "seed " << seed << ": " << problem;
      return report;
    };
    const TrainReport first = train(1, 4);
    EXPECT_FALSE(SameBits(first.values, train(1, -1).values)) << optimizer << ": it was set";
    std::uint64_t cuts = first.cuts;
    for (std::uint64_t seed = 2; seed <= kWorlds; ++seed) {
      const TrainReport other = train(seed, 4);
      EXPECT_TRUE(SameBits(other.values, first.values)) << optimizer << " in world " << seed;
      cuts += other.cuts;
    }
    EXPECT_GT(cuts, 20U) << "connections were lost and made again";
  }
}

TEST(TrainTest, AnotherProblemGivesOtherValues) {
  const TrainReport one = RunTrain({.problem = 1});
  const TrainReport two = RunTrain({.problem = 2});
  EXPECT_FALSE(SameBits(one.values, two.values));
}

}  // namespace
}  // namespace leeway::sim
