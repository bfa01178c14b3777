#include "leeway/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace leeway {
namespace {

TEST(IdsTest, AFailedExpectationShowsTheirNumbers) {
  EXPECT_EQ(testing::PrintToString(WorkerId(3)), "3");
  EXPECT_EQ(testing::PrintToString(Iteration(-1)), "-1");
  EXPECT_EQ(testing::PrintToString(std::vector<ShardId>{ShardId(7), ShardId(0)}), "{ 7, 0 }");
}

}  // namespace
}  // namespace leeway
