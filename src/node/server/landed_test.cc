#include "node/server/landed.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(SparePushesTest, WhatIsDoneWithIsUsedAgainWithoutItsBuffers) {
  SparePushes spares;
  BufferPool pool(0);
  std::shared_ptr<LandedPush> landed = spares.Take();
  LandedPush* const first = landed.get();
  landed->buffers.push_back(pool.Take(4));
  landed->message.entries.resize(3);
  spares.Return(std::move(landed));
  EXPECT_EQ(spares.size(), 1U);
  landed = spares.Take();
  EXPECT_EQ(landed.get(), first);
  EXPECT_TRUE(landed->buffers.empty());
  EXPECT_EQ(spares.size(), 0U);
}

TEST(SparePushesTest, WhatSomebodyStillHoldsIsNotKept) {
  SparePushes spares;
  std::shared_ptr<LandedPush> landed = spares.Take();
  const std::shared_ptr<LandedPush> held = landed;
  spares.Return(std::move(landed));
  EXPECT_EQ(spares.size(), 0U);
}

TEST(SparePushesTest, NoMoreAreKeptThanItsLimit) {
  SparePushes spares;
  for (std::size_t i = 0; i < SparePushes::kMost + 5; ++i) spares.Return(std::make_shared<LandedPush>());
  EXPECT_EQ(spares.size(), SparePushes::kMost);
}

}  // namespace
}  // namespace leeway
