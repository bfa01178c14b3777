#include "sim/flow/shared_cores.h"

#include <gtest/gtest.h>

#include <vector>

namespace leeway::sim {
namespace {

using namespace std::chrono_literals;

class SharedCoresTest : public ::testing::Test {
 protected:
  // Notes when it was done.
  std::function<void()> Note() {
    return [this] { ends_.push_back(queue_.now()); };
  }
  void RunAll() {
    while (queue_.RunOne()) {
    }
  }

  EventQueue queue_;
  std::vector<Duration> ends_;
};

// Shares are no whole nanoseconds.
void ExpectEnds(const std::vector<Duration>& got, const std::vector<Duration>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(static_cast<double>(got[i].count()), static_cast<double>(wanted[i].count()), 10.0) << i;
}

TEST_F(SharedCoresTest, NobodyHasMoreThanOneCore) {
  SharedCores cores(queue_, 4);
  cores.Run(10ms, Note());
  cores.Run(20ms, Note());
  RunAll();
  ExpectEnds(ends_, {10ms, 20ms});
}

TEST_F(SharedCoresTest, FourOnTwoTakeTwiceAsLong) {
  SharedCores cores(queue_, 2);
  for (int i = 0; i < 4; ++i) cores.Run(10ms, Note());
  RunAll();
  ExpectEnds(ends_, {20ms, 20ms, 20ms, 20ms});
}

TEST_F(SharedCoresTest, WhoComesLaterMakesTheOthersSlower) {
  SharedCores cores(queue_, 1);
  cores.Run(10ms, Note());
  queue_.At(5ms, [&] { cores.Run(10ms, Note()); });
  RunAll();
  ExpectEnds(ends_, {15ms, 20ms});
  EXPECT_EQ(cores.running(), 0U);
}

TEST_F(SharedCoresTest, ALineWorksOneThingAfterTheOther) {
  SharedCores cores(queue_, 2);
  WorkLine line(cores);
  line.Add(10ms, Note());
  line.Add(10ms, Note());
  RunAll();
  ExpectEnds(ends_, {10ms, 20ms});
}

TEST_F(SharedCoresTest, ALineThatIsGoneDoesNothingMore) {
  SharedCores cores(queue_, 1);
  auto line = std::make_unique<WorkLine>(cores);
  line->Add(10ms, Note());
  line->Add(10ms, Note());
  queue_.At(5ms, [&] { line.reset(); });
  RunAll();
  EXPECT_TRUE(ends_.empty());
}

}  // namespace
}  // namespace leeway::sim
