#include "sim/flow/shared_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/hash.h"

namespace leeway::sim {
namespace {

constexpr double kGigabyte = 1e9;  // a second: a byte is a nanosecond

TEST(SharedLinkTest, OneFlowHasItAll) {
  SharedLink link(kGigabyte);
  EXPECT_EQ(link.NextEnd(), std::nullopt);
  link.Begin(7, 1000, Duration(50));
  EXPECT_EQ(link.NextEnd(), Duration(1050));
  EXPECT_EQ(link.TakeEnded(Duration(1040)), std::nullopt);
  EXPECT_EQ(link.TakeEnded(Duration(1050)), 7U);
  EXPECT_EQ(link.flows(), 0U);
}

TEST(SharedLinkTest, TwoFlowsHaveHalfEachWhileBothAreThere) {
  SharedLink link(kGigabyte);
  link.Begin(1, 1000, Duration(0));
  link.Begin(2, 1000, Duration(500));  // 1 has 500 left: both get half until 1 is through at 1500
  EXPECT_EQ(link.NextEnd(), Duration(1500));
  EXPECT_EQ(link.TakeEnded(Duration(1500)), 1U);
  EXPECT_EQ(link.TakeEnded(Duration(1500)), std::nullopt);
  EXPECT_EQ(link.NextEnd(), Duration(2000));  // 2 has 500 left, alone
  EXPECT_EQ(link.TakeEnded(Duration(2000)), 2U);
}

TEST(SharedLinkTest, ASmallFlowPassesALargeOne) {
  SharedLink link(kGigabyte);
  link.Begin(1, 1'000'000, Duration(0));
  link.Begin(2, 10, Duration(0));
  EXPECT_EQ(link.NextEnd(), Duration(20));
  EXPECT_EQ(link.TakeEnded(Duration(20)), 2U);
  EXPECT_EQ(link.NextEnd(), Duration(1'000'010));
}

TEST(SharedLinkTest, EqualFlowsEndInTheOrderOfTheirBegin) {
  SharedLink link(kGigabyte);
  for (std::uint32_t flow = 0; flow < 5; ++flow) link.Begin(flow, 100, Duration(0));
  for (std::uint32_t flow = 0; flow < 5; ++flow) EXPECT_EQ(link.TakeEnded(Duration(500)), flow);
}

TEST(SharedLinkTest, FlowsUnderWayGoOnAtTheNewRate) {
  SharedLink link(kGigabyte);
  link.Begin(1, 1000, Duration(0));
  link.SetRate(kGigabyte / 2, Duration(500));  // 500 left, at half the rate
  EXPECT_EQ(link.NextEnd(), Duration(1500));
  link.Begin(2, 100, Duration(1000));           // 1 has 250 left: both get a quarter of the first rate
  link.SetRate(kGigabyte * 2, Duration(1200));  // 1 has 200 left, 2 has 50: each gets the whole first rate
  EXPECT_EQ(link.TakeEnded(Duration(1250)), 2U);
  EXPECT_EQ(link.NextEnd(), Duration(1325));  // 1 has 150 left, alone at twice the first rate
}

TEST(SharedLinkTest, ARemovedFlowLeavesItsShareToTheOthers) {
  SharedLink link(kGigabyte);
  link.Begin(1, 1000, Duration(0));
  link.Begin(2, 400, Duration(0));
  link.Begin(3, 1000, Duration(0));
  EXPECT_EQ(link.Remove(2, Duration(300)), 300.0);
  EXPECT_EQ(link.Remove(2, Duration(300)), std::nullopt);
  EXPECT_EQ(link.NextEnd(), Duration(300 + 2 * 900));
  EXPECT_EQ(link.TakeEnded(Duration(2100)), 1U);
  EXPECT_EQ(link.TakeEnded(Duration(2100)), 3U);
}

// Against the same link in steps of a nanosecond.
TEST(SharedLinkTest, IsWhatSmallStepsGive) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    struct Job {
      Duration begins;
      double left;
      Duration ends{0};
    };
    std::vector<Job> jobs;
    for (std::uint64_t i = 0; i < 12; ++i) {
      jobs.push_back(
          {Duration(Hash64({seed, i, 1}) % 3000), 1.0 + static_cast<double>(Hash64({seed, i, 2}) % 900)});
    }
    std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.begins < b.begins; });
    SharedLink link(kGigabyte);
    std::vector<Duration> ended(jobs.size());
    std::size_t begun = 0, over = 0;
    while (over < jobs.size()) {
      const std::optional<Duration> end = link.NextEnd();
      if (begun < jobs.size() && (!end || jobs[begun].begins < *end)) {
        link.Begin(static_cast<std::uint32_t>(begun), jobs[begun].left, jobs[begun].begins);
        ++begun;
        continue;
      }
      while (const std::optional<std::uint32_t> flow = link.TakeEnded(*end)) {
        ended[*flow] = *end;
        ++over;
      }
    }
    for (std::int64_t now = 0;
         std::ranges::any_of(jobs, [](const Job& job) { return job.ends.count() == 0; }); ++now) {
      const auto is_there = [now](const Job& job) {
        return job.begins.count() <= now && job.ends.count() == 0;
      };
      const auto n = static_cast<double>(std::ranges::count_if(jobs, is_there));
      for (Job& job : jobs) {
        if (!is_there(job)) continue;
        job.left -= 1.0 / n;
        if (job.left <= 1e-9) job.ends = Duration(now + 1);
      }
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(ended[i].count()), static_cast<double>(jobs[i].ends.count()), 20.0)
          << "seed " << seed << " job " << i;
    }
  }
}

}  // namespace
}  // namespace leeway::sim
