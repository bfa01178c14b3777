#include "node/worker/touched_blocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "node/worker/table.h"

namespace leeway {
namespace {

using Blocks = std::vector<WorkerBlock*>;

Blocks AllOf(TouchedBlocks& touched) {
  Blocks all;
  touched.TakeAll(all);
  return all;
}

TEST(TouchedBlocksTest, ComeOutOnceInTheOrderInWhichTheyCame) {
  WorkerBlock a, b, c;
  TouchedBlocks touched;
  EXPECT_TRUE(touched.empty());
  touched.Add(b);
  touched.Add(a);
  touched.Add(b);
  touched.Add(c);
  EXPECT_FALSE(touched.empty());
  EXPECT_EQ(AllOf(touched), (Blocks{&b, &a, &c}));
  EXPECT_TRUE(touched.empty());
  touched.Add(c);
  touched.Add(b);
  EXPECT_EQ(AllOf(touched), (Blocks{&c, &b}));
}

TEST(TouchedBlocksTest, OneThatIsRemovedLeavesTheOthersAsTheyWere) {
  for (std::size_t which = 0; which < 3; ++which) {
    WorkerBlock blocks[3], other;
    TouchedBlocks touched;
    Blocks left;
    for (WorkerBlock& block : blocks) {
      touched.Add(block);
      if (&block != &blocks[which]) left.push_back(&block);
    }
    touched.Remove(blocks[which]);
    touched.Remove(other);
    touched.Add(other);
    left.push_back(&other);
    EXPECT_EQ(AllOf(touched), left) << which;
  }
}

TEST(TouchedBlocksTest, IsEmptyWithoutTheLast) {
  WorkerBlock block;
  TouchedBlocks touched;
  touched.Add(block);
  touched.Remove(block);
  EXPECT_TRUE(touched.empty());
  touched.Add(block);
  EXPECT_EQ(AllOf(touched), Blocks{&block});
}

}  // namespace
}  // namespace leeway
