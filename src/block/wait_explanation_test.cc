#include "block/wait_explanation.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

PullEvent Pull(std::uint32_t worker, std::int64_t progress, std::uint64_t epoch = 0) {
  return {
      .from = {WorkerId(worker), Incarnation(1)}, .progress = Iteration(progress), .epoch_min = Epoch(epoch)};
}

const BlockWaitState kOpen{
    .epoch = Epoch(2), .v_train = Iteration(4), .release = Release::kLazy, .missing = {WorkerId(3)}};

TEST(ExplainWaitsTest, NobodyWaits) { EXPECT_EQ(ExplainWaits({}, kOpen), ""); }

TEST(ExplainWaitsTest, WorkersOfOneProgressAreNamedTogetherWithThoseThatTheyWaitFor) {
  const std::vector<PullEvent> waiting = {Pull(0, 4), Pull(1, 6), Pull(2, 4)};
  EXPECT_EQ(ExplainWaits(waiting, kOpen),
            "workers 0, 2 wait with progress 4 for iteration 4 to end, which lacks worker 3; "
            "worker 1 waits with progress 6 for iteration 6 to end; 4 is open and lacks worker 3");
  BlockWaitState soft = kOpen;
  soft.release = Release::kSoft;
  EXPECT_EQ(ExplainWaits({{Pull(1, 6)}}, soft),
            "worker 1 waits with progress 6 for iteration 4 to end, which lacks worker 3");
}

TEST(ExplainWaitsTest, InitialValuesAndEpochsAreCausesOfTheirOwn) {
  EXPECT_EQ(ExplainWaits({{Pull(1, 6, 5)}}, kOpen), "worker 1 waits with progress 6 for epoch 5 (now 2)");
  BlockWaitState empty = kOpen;
  empty.initialized = false;
  EXPECT_EQ(ExplainWaits({{Pull(1, 6, 5)}}, empty), "worker 1 waits with progress 6 for initial values");
}

TEST(ExplainWaitsTest, FewAreNamedAndTheRestIsCounted) {
  std::vector<PullEvent> waiting;
  for (std::uint32_t worker = 0; worker < 10; ++worker) waiting.push_back(Pull(worker, 4));
  EXPECT_EQ(ExplainWaits(waiting, kOpen),
            "workers 0, 1, 2, 3, 4, 5, 6, 7 and 2 more wait with progress 4 for iteration 4 to end, which "
            "lacks worker 3");
  waiting = {Pull(0, 5), Pull(1, 6), Pull(2, 7), Pull(3, 8), Pull(4, 9)};
  EXPECT_TRUE(ExplainWaits(waiting, kOpen).ends_with("; and 2 more of other progress"));
}

TEST(ExplainWaitsTest, ALongTextIsCut) {
  BlockWaitState causes = kOpen;
  for (std::uint32_t worker = 0; worker < 8; ++worker) causes.missing.emplace_back(4'000'000'000U + worker);
  std::vector<PullEvent> waiting;
  for (std::uint32_t worker = 0; worker < 30; ++worker)
    waiting.push_back(Pull(4'000'000'000U + worker, 5 + worker % 3));
  const std::string why = ExplainWaits(waiting, causes);
  EXPECT_EQ(why.size(), 512U);
  EXPECT_TRUE(why.ends_with("..."));
}

}  // namespace
}  // namespace leeway
