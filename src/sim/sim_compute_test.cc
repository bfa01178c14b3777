#include "sim/sim_compute.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

constexpr JobSize kEncodesMegabyte{JobSize::Kind::kEncode, 1'000'000};
constexpr JobSize kDecodesMegabyte{JobSize::Kind::kDecode, 1'000'000};

// The simulated times at which jobs ended.
class SimComputeTest : public ::testing::Test {
 protected:
  void Note(SimCompute& compute, const JobSize& size) {
    compute.RunSized(
        size, [] {}, [this] { ends.push_back(queue.now()); });
  }
  void RunAll() {
    while (queue.RunOne()) {
    }
  }

  EventQueue queue;
  std::vector<Duration> ends;
};

TEST_F(SimComputeTest, WithoutCostsTheSizeOfAJobChangesNothing) {
  SimCompute plain(queue, 7);
  plain.Run([] {}, [this] { ends.push_back(queue.now()); });
  RunAll();
  const Duration began = queue.now();
  SimCompute sized(queue, 7);
  Note(sized, kEncodesMegabyte);
  RunAll();
  EXPECT_EQ(ends[1] - began, ends[0]);
}

TEST_F(SimComputeTest, JobsTakeTheirTimeOneAfterTheOther) {
  SimCompute free(queue, 7);
  Note(free, kEncodesMegabyte);
  Note(free, kDecodesMegabyte);
  free.Run([] {}, [this] { ends.push_back(queue.now()); });
  RunAll();
  const Duration began = queue.now();
  const JobCosts costs{.per_job = milliseconds(3), .encode_ns_per_byte = 10, .decode_ns_per_byte = 2};
  SimCompute costly(queue, 7, costs);
  Note(costly, kEncodesMegabyte);
  Note(costly, kDecodesMegabyte);
  costly.Run([] {}, [this] { ends.push_back(queue.now()); });
  RunAll();
  ASSERT_EQ(ends.size(), 6U);
  EXPECT_EQ(ends[3] - began - ends[0], milliseconds(13));
  EXPECT_EQ(ends[4] - began - ends[1], milliseconds(13 + 5));
  EXPECT_EQ(ends[5] - began - ends[2], milliseconds(13 + 5 + 3)) << "a job without a size";
}

TEST_F(SimComputeTest, OnSharedCoresTheCoresSayWhenAJobEnds) {
  std::vector<std::pair<Duration, std::function<void()>>> given;
  JobCosts costs{.encode_ns_per_byte = 10};
  costs.on_cores = [&](Duration work, std::function<void()> done) {
    given.emplace_back(work, std::move(done));
  };
  std::optional<SimCompute> compute(std::in_place, queue, 7, costs);
  Note(*compute, kEncodesMegabyte);
  Note(*compute, kEncodesMegabyte);
  RunAll();
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].first, milliseconds(10));
  EXPECT_TRUE(ends.empty());
  given[0].second();
  RunAll();
  EXPECT_EQ(ends.size(), 1U);
  ASSERT_EQ(given.size(), 2U);
  compute.reset();
  given[1].second();
  EXPECT_EQ(ends.size(), 1U) << "its process has ended";
}

}  // namespace
}  // namespace leeway::sim
