#include "problem/cifar_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "problem/testing/cifar_folder.h"

namespace leeway::problem {
namespace {

using ::testing::HasSubstr;

std::string SetError(const CifarFolder& folder) {
  const Result<ImageSets> read = ReadCifarSets(folder.path());
  EXPECT_FALSE(read.ok());
  return read.status().message();
}

TEST(CifarSetTest, ReadsTheFilesInTheirOrder) {
  const CifarFolder folder;
  folder.Write("data_batch_1.bin", CifarFolder::Records({3, 4}));
  folder.Write("data_batch_5.bin", CifarFolder::Records({9}));
  const Result<ImageSets> read = ReadCifarSets(folder.path());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT(std::vector<std::uint8_t>(read->train.labels.begin(), read->train.labels.begin() + 3),
              ::testing::ElementsAre(3, 4, 0));
  EXPECT_EQ(read->train.labels.back(), 9);
  EXPECT_EQ(read->train.size(), 2 + 3 * 10 + 1U);
  EXPECT_EQ(read->test.size(), 10U);
  const std::span<const std::uint8_t> image = read->train.image(1);
  ASSERT_EQ(image.size(), kCifarImageBytes);
  EXPECT_EQ(image[0], CifarFolder::Pixel(4, 0));
  EXPECT_EQ(image[1024], CifarFolder::Pixel(4, 1024));
  EXPECT_EQ(image[3071], CifarFolder::Pixel(4, 3071));
}

TEST(CifarSetTest, AMissingFileIsNamedWithItsFolder) {
  const CifarFolder folder;
  std::filesystem::remove(folder.PathOf("data_batch_3.bin"));
  EXPECT_EQ(ReadCifarSets(folder.path()).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(SetError(folder), "there is no data_batch_3.bin in the folder \"" + folder.path() + "\"");
}

TEST(CifarSetTest, AFileThatWasCutIsRefused) {
  const CifarFolder folder;
  std::filesystem::resize_file(folder.PathOf("test_batch.bin"), 3000);
  EXPECT_THAT(SetError(folder), HasSubstr("test_batch.bin\" has 3000 bytes, wanted a multiple of 3073"));
  std::filesystem::resize_file(folder.PathOf("test_batch.bin"), 0);
  EXPECT_THAT(SetError(folder), HasSubstr("test_batch.bin\" has 0 bytes, wanted a multiple of 3073"));
}

TEST(CifarSetTest, AFileBeyondTheLimitIsRefusedBeforeAnyMemoryIsTaken) {
  const CifarFolder folder;
  std::filesystem::resize_file(folder.PathOf("test_batch.bin"), std::uintmax_t{1} << 40);
  EXPECT_THAT(SetError(folder), HasSubstr("has 1099511627776 bytes, wanted at most 268435456"));
}

TEST(CifarSetTest, ALabelBeyondTheClassesIsFound) {
  const CifarFolder folder;
  folder.Write("data_batch_2.bin", CifarFolder::Records({1, 2, 10}));
  EXPECT_THAT(SetError(folder), HasSubstr("data_batch_2.bin\" has the label 10 at image 2, wanted 0 to 9"));
}

TEST(CifarSetTest, AFolderIsNoFile) {
  const CifarFolder folder;
  std::filesystem::remove(folder.PathOf("test_batch.bin"));
  std::filesystem::create_directory(folder.PathOf("test_batch.bin"));
  EXPECT_THAT(SetError(folder), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace leeway::problem
