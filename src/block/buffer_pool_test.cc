#include "block/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace leeway {
namespace {

TEST(BufferPoolTest, BuffersAreAlignedAndOfTheSizeAskedFor) {
  BufferPool pool(1U << 20);
  for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 1000U}) {
    const BufferRef buffer = pool.Take(n);
    EXPECT_EQ(buffer->floats().size(), n);
    EXPECT_EQ(buffer->bytes().size(), n * sizeof(float));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->floats().data()) % 64, 0U) << n;
  }
}

TEST(BufferPoolTest, ABufferComesBackForItsSizeOnly) {
  BufferPool pool(1U << 20);
  const float* first = nullptr;
  {
    const BufferRef buffer = pool.Take(100);
    first = buffer->floats().data();
  }
  EXPECT_EQ(pool.spare_bytes(), 400U);
  const BufferRef other = pool.Take(50);
  EXPECT_EQ(pool.spare_bytes(), 400U);
  const BufferRef again = pool.Take(100);
  EXPECT_EQ(again->floats().data(), first);
  EXPECT_EQ(pool.spare_bytes(), 0U);
}

TEST(BufferPoolTest, SparesAreBounded) {
  BufferPool pool(1000);
  std::vector<BufferRef> taken;
  for (int i = 0; i < 10; ++i) taken.push_back(pool.Take(100));
  taken.clear();
  EXPECT_EQ(pool.spare_bytes(), 800U);
}

TEST(BufferPoolTest, BuffersMayOutliveThePool) {
  std::optional<BufferPool> pool(std::in_place, 1U << 20);
  const BufferRef held = pool->Take(10);
  { const BufferRef returned = pool->Take(10); }
  pool.reset();
  held->floats()[9] = 1.0F;
  EXPECT_EQ(held->floats()[9], 1.0F);
}

}  // namespace
}  // namespace leeway
