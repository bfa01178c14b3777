#include "problem/image_shelf.h"

#include <gtest/gtest.h>

#include "problem/idx_set.h"
#include "problem/testing/image_folder.h"

namespace leeway::problem {
namespace {

ImageSource SourceOf(const std::string& name, Result<ImageSets> (*read)(const std::string&)) {
  ImageSource source;
  source.name = name;
  source.read = read;
  return source;
}

TEST(ImageShelfTest, AFolderIsReadOnceAndAnErrorIsForgotten) {
  const ImageFolder folder;
  const ImageSource source = SourceOf("mine", ReadIdxSets);
  ImageShelf shelf;
  EXPECT_FALSE(shelf.Get(source, folder.path() + "/none").ok());
  EXPECT_FALSE(shelf.Get(source, folder.path() + "/none").ok());
  const Result<ImageSetsPtr> first = shelf.Get(source, folder.path());
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  folder.Remove("train-labels-idx1-ubyte");
  const Result<ImageSetsPtr> second = shelf.Get(source, folder.path());
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(*first, *second);
}

TEST(ImageShelfTest, TwoSourcesMayShareAFolder) {
  const ImageFolder folder;
  const auto read_none = [](const std::string&) { return Result<ImageSets>(ImageSets{}); };
  ImageShelf shelf;
  EXPECT_TRUE(shelf.Get(SourceOf("mine", ReadIdxSets), folder.path()).ok());
  const Result<ImageSetsPtr> other = shelf.Get(SourceOf("other", read_none), folder.path());
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_EQ((*other)->train.size(), 0U);
}

}  // namespace
}  // namespace leeway::problem
