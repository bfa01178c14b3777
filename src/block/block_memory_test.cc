// Values and sums without memory: nothing changes, and they say so.
#include <gtest/gtest.h>

#include "base/heap_arena.h"
#include "block/open_sums.h"
#include "block/values.h"
#include "optimizer/optimizers.h"

namespace leeway {
namespace {

// Gives so many pieces and no more.
class FewPieces final : public Arena {
 public:
  [[nodiscard]] std::shared_ptr<std::byte> Allocate(std::size_t bytes, Use use) override {
    if (left == 0) return nullptr;
    --left;
    return heap_.Allocate(bytes, use);
  }
  int left = 0;

 private:
  HeapArena heap_;
};

class BlockMemoryTest : public ::testing::Test {
 protected:
  BufferRef Make(float value) {
    auto buffer = std::make_shared<Buffer>(std::size_t{2});
    std::ranges::fill(buffer->floats(), value);
    return buffer;
  }
  static PushEvent From(std::uint32_t worker) {
    return {.from = {WorkerId(worker), Incarnation(1)}, .seq = Seq(1), .iteration = Iteration(0)};
  }
  FewPieces arena;
  BufferPool pool{0, arena};  // keeps nothing: every buffer is a piece
  OptimizerPtr momentum = *BuiltinOptimizers().MakeFromSpec("momentum");
};

TEST_F(BlockMemoryTest, APoolWithoutMemoryGivesNull) {
  EXPECT_EQ(pool.Take(2), nullptr);
  arena.left = 1;
  EXPECT_NE(pool.Take(2), nullptr);
}

TEST_F(BlockMemoryTest, AReservationIsAllOrNothing) {
  Values values(2, *momentum, pool);
  arena.left = 1;
  EXPECT_FALSE(values.Reserve()) << "momentum has an array of its own";
  EXPECT_EQ(values.reserved(), nullptr);
  arena.left = 2;
  EXPECT_TRUE(values.Reserve());
  EXPECT_EQ(arena.left, 0);
  EXPECT_TRUE(values.Initialize(values.TakeFirst())) << "with what was reserved";
  EXPECT_EQ(values.version(), Version(1));
}

TEST_F(BlockMemoryTest, InitialValuesWithoutMemoryForTheOptimizerDoNotCount) {
  Values values(2, *momentum, pool);
  EXPECT_FALSE(values.Initialize(Make(1)));
  EXPECT_FALSE(values.initialized());
}

TEST_F(BlockMemoryTest, AStepWithoutMemoryChangesNothing) {
  Values values(2, *momentum, pool);
  arena.left = 1;
  ASSERT_TRUE(values.Initialize(Make(1)));
  const BufferRef gradient = Make(1);
  for (const int left : {0, 1}) {
    arena.left = left;
    EXPECT_EQ(values.Step({.g = gradient->floats(), .hyper = {.lr = 0.5F}}), Values::Outcome::kNoMemory);
    EXPECT_EQ(values.version(), Version(1));
    EXPECT_EQ(values.current()->floats()[0], 1.0F);
  }
  arena.left = 2;
  EXPECT_EQ(values.Step({.g = gradient->floats(), .hyper = {.lr = 0.5F}}), Values::Outcome::kPublished);
  EXPECT_EQ(values.current()->floats()[0], 0.5F);
}

TEST_F(BlockMemoryTest, AGradientThatCannotBeAddedLeavesTheSumAsItWas) {
  OpenSums sums(false, pool);
  ASSERT_EQ(sums.Add(Iteration(0), From(0), Make(1), false), Values::Outcome::kPublished);
  EXPECT_EQ(sums.Add(Iteration(0), From(1), Make(5), false), Values::Outcome::kNoMemory);
  const auto closed = sums.Close(Iteration(0));
  ASSERT_TRUE(closed && closed->sum != nullptr);
  EXPECT_EQ(closed->contributors, 1U);
  EXPECT_EQ(closed->sum->floats()[0], 1.0F);
}

TEST_F(BlockMemoryTest, ASumThatCannotBeClosedIsSaidToBeLost) {
  OpenSums sums(true, pool);
  ASSERT_EQ(sums.Add(Iteration(0), From(0), Make(1), false), Values::Outcome::kPublished);
  ASSERT_EQ(sums.Add(Iteration(0), From(1), Make(2), false), Values::Outcome::kPublished);
  const auto closed = sums.Close(Iteration(0));
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->sum, nullptr);
}

}  // namespace
}  // namespace leeway
