// FluentPS, Figure 3, as a test by itself: what a delayed pull waits for, and what it then reads.
//
// The figure counts from 1, and what it calls s = 3 is ssp:2 in Table III's convention
// (docs/decisions/0010-ssp-zero-is-bsp.md). W0 is in its fourth iteration (3 here) when W2, the slowest, is
// in its second: the gradients g1, g2, g3 of W2 are absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

struct Figure3Outcome {
  int pauses = 0;         // pulls of W0 that waited
  int advances = -1;      // iterations of W2 until the one that waited was answered
  float read_of_w2 = -1;  // how many of W2's gradients W0 then read
};

Figure3Outcome DrawFigure3(const char* sync) {
  HandFedBlock block({.sync = sync, .apply = "immediate", .elements = 3});
  block.Begin(3);
  Figure3Outcome outcome;
  // Each worker adds 1 to its own cell.
  const auto push = [&](std::uint32_t worker, std::int64_t i) {
    std::vector<float> gradient(3, 0.0F);
    gradient[worker] = 1.0F;
    block.Push(worker, i, gradient);
  };
  push(2, 0);
  push(1, 0);
  for (int i = 0; i <= 3; ++i) {
    push(0, i);
    block.Forget();
    block.Pull(0, i);
    if (block.Heard().empty()) ++outcome.pauses;
    if (i > 0) push(1, i);
  }
  EXPECT_EQ(block->v_train(), Iteration(1));
  EXPECT_EQ(block->waiting(), 1U) << "W0 waits in its fourth iteration, and not before";
  for (int i = 1; i <= 5; ++i) {
    push(2, i);
    if (block->waiting() > 0) continue;
    outcome.advances = i;
    outcome.read_of_w2 = std::as_const(*block.Held(0)).floats()[2];
    break;
  }
  return outcome;
}

TEST(Figure3Test, TheSoftBarrierAnswersAfterOneIterationOfTheSlowest) {
  const Figure3Outcome soft = DrawFigure3("ssp:2,release=soft");
  EXPECT_EQ(soft.pauses, 1);
  EXPECT_EQ(soft.advances, 1);
  EXPECT_EQ(soft.read_of_w2, 2.0F) << "stale: two of W2's gradients are missing";
}

TEST(Figure3Test, LazyExecutionAnswersAfterThreeIterationsOfTheSlowest) {
  const Figure3Outcome lazy = DrawFigure3("ssp:2,release=lazy");
  EXPECT_EQ(lazy.pauses, 1);
  EXPECT_EQ(lazy.advances, 3);
  EXPECT_EQ(lazy.read_of_w2, 4.0F) << "nothing of W2 is missing";
}

}  // namespace
}  // namespace leeway
