// Where the initial values of a block go.
#include <gtest/gtest.h>

#include <vector>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

TEST(BlockInitTest, InitialValuesGoIntoTheMemoryThatWasReservedForThem) {
  const MemberKey from{WorkerId(0), Incarnation(1)};
  const std::vector<float> lent{3, 4};
  HandFedBlock block;
  ASSERT_TRUE(block->Reserve());
  const BufferRef reserved = block->reserved();
  block->OnInit(from, Term(1), Gradient(lent, {}), TimePoint());
  EXPECT_EQ(block->values().data(), reserved->floats().data());
  EXPECT_EQ(block->values()[1], 4.0F);

  HandFedBlock other;  // its values come by a socket, and land there
  ASSERT_TRUE(other->Reserve());
  const BufferRef landing = other->reserved();
  EXPECT_EQ(other->TakeFirst(), landing);
  EXPECT_NE(other->TakeFirst(), landing) << "once";
}

}  // namespace
}  // namespace leeway
