#include "transport/local/last_level_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temp_folder.h"

namespace leeway {
namespace {

class LastLevelCacheTest : public ::testing::Test {
 protected:
  void Write(int index, const std::string& size) {
    const std::string at = folder_.PathOf(fmt::format("index{}", index));
    std::filesystem::create_directories(at);
    std::ofstream(at + "/size") << size;
  }

  const leeway::testing::TempFolder folder_;
};

TEST_F(LastLevelCacheTest, TheLargestOfTheTableIsTheLast) {
  Write(0, "32K\n");
  Write(1, "32K\n");
  Write(2, "512K\n");
  Write(3, "32768K\n");
  EXPECT_EQ(LastLevelCacheBytes(folder_.path()), 32U << 20);
}

TEST_F(LastLevelCacheTest, EveryUnitOfTheTable) {
  Write(0, "4M\n");
  EXPECT_EQ(LastLevelCacheBytes(folder_.path()), 4U << 20);
  Write(0, "1G");
  EXPECT_EQ(LastLevelCacheBytes(folder_.path()), 1U << 30);
  Write(0, "123456");
  EXPECT_EQ(LastLevelCacheBytes(folder_.path()), 123456U);
}

TEST_F(LastLevelCacheTest, WithoutATableItIsStillOfSomeSize) {
  EXPECT_GE(LastLevelCacheBytes(folder_.path()), 256U << 10);
  Write(0, "much");
  EXPECT_GE(LastLevelCacheBytes(folder_.path()), 256U << 10);
}

}  // namespace
}  // namespace leeway
