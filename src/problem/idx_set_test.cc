#include "problem/idx_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/testing/image_folder.h"

namespace leeway::problem {
namespace {

using ::testing::HasSubstr;

std::string SetError(const ImageFolder& folder) {
  const Result<ImageSets> read = ReadIdxSets(folder.path());
  EXPECT_FALSE(read.ok());
  return read.status().message();
}

TEST(IdxSetTest, ReadsImagesAndLabels) {
  const ImageFolder folder(60, 30);
  const Result<ImageSets> read = ReadIdxSets(folder.path());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->train.size(), 60U);
  EXPECT_EQ(read->test.size(), 30U);
  EXPECT_EQ(read->train.pixels, ImageFolder::Pixels(60));
  EXPECT_EQ(read->train.labels, ImageFolder::Labels(60));
  EXPECT_EQ(read->train.image(59).size(), kIdxPixels);
}

TEST(IdxSetTest, AMissingFileIsNamedWithItsFolder) {
  const ImageFolder folder;
  folder.Remove("t10k-labels-idx1-ubyte");
  EXPECT_EQ(SetError(folder),
            "there is no t10k-labels-idx1-ubyte and no t10k-labels-idx1-ubyte.gz in the folder \"" +
                folder.path() + "\"");
}

TEST(IdxSetTest, AsManyLabelsAsImagesAreWanted) {
  const ImageFolder folder(60, 30);
  folder.Write("train-labels-idx1-ubyte", ImageFolder::Idx({0x0801, 59}, ImageFolder::Labels(59)));
  EXPECT_THAT(SetError(folder), HasSubstr("has 59 labels, wanted one for each of the 60 images in"));
}

TEST(IdxSetTest, ALabelBeyondTheClassesIsFound) {
  const ImageFolder folder(60, 30);
  std::vector<std::uint8_t> labels = ImageFolder::Labels(60);
  labels[17] = 10;
  folder.Write("train-labels-idx1-ubyte", ImageFolder::Idx({0x0801, 60}, labels));
  EXPECT_THAT(SetError(folder), HasSubstr("has the label 10 at 17, wanted 0 to 9"));
}

TEST(IdxSetTest, ImagesOfAnotherSizeAreRefused) {
  const ImageFolder folder;
  folder.WritePacked("train-images-idx3-ubyte.gz",
                     ImageFolder::Idx({0x0803, 2, 2, 2}, std::vector<std::uint8_t>(8)));
  EXPECT_THAT(SetError(folder), HasSubstr("has images of 2 x 2, wanted 28 x 28"));
}

TEST(IdxSetTest, NoImagesAtAllAreRefused) {
  const ImageFolder folder;
  folder.WritePacked("train-images-idx3-ubyte.gz", ImageFolder::Idx({0x0803, 0, 28, 28}, {}));
  EXPECT_THAT(SetError(folder), HasSubstr("has no images"));
}

}  // namespace
}  // namespace leeway::problem
