#include "transport/local/last_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace leeway {
namespace {

class LastCacheTest : public ::testing::Test {
 protected:
  void Write(int index, const std::string& size) {
    const std::string at = fmt::format("{}/index{}", folder_, index);
    std::filesystem::create_directories(at);
    std::ofstream(at + "/size") << size;
  }
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = ::testing::TempDir() + "leeway_last_cache";
};

TEST_F(LastCacheTest, TheLargestOfTheTableIsTheLast) {
  Write(0, "32K\n");
  Write(1, "32K\n");
  Write(2, "512K\n");
  Write(3, "32768K\n");
  EXPECT_EQ(LastCacheBytes(folder_), 32U << 20);
}

TEST_F(LastCacheTest, EveryUnitOfTheTable) {
  Write(0, "4M\n");
  EXPECT_EQ(LastCacheBytes(folder_), 4U << 20);
  Write(0, "1G");
  EXPECT_EQ(LastCacheBytes(folder_), 1U << 30);
  Write(0, "123456");
  EXPECT_EQ(LastCacheBytes(folder_), 123456U);
}

TEST_F(LastCacheTest, WithoutATableItIsStillOfSomeSize) {
  EXPECT_GE(LastCacheBytes(folder_), 256U << 10);
  Write(0, "much");
  EXPECT_GE(LastCacheBytes(folder_), 256U << 10);
}

}  // namespace
}  // namespace leeway
