#include "problem/idx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "problem/testing/image_folder.h"

namespace leeway::problem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::uint8_t> kSix = {1, 2, 3, 4, 5, 6};

std::string ReadError(const ImageFolder& folder, const std::string& name, std::uint32_t dimensions) {
  const Result<IdxArray> read = ReadIdxFile(folder.PathOf(name), dimensions);
  EXPECT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr(folder.PathOf(name)));
  return read.status().message();
}

TEST(IdxFileTest, PlainAndPackedFilesReadAlike) {
  const ImageFolder folder;
  folder.Write("plain", ImageFolder::Idx({0x0802, 2, 3}, kSix));
  folder.WritePacked("packed", ImageFolder::Idx({0x0802, 2, 3}, kSix));
  for (const char* name : {"plain", "packed"}) {
    const Result<IdxArray> read = ReadIdxFile(folder.PathOf(name), 2);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_THAT(read->shape, ElementsAre(2, 3));
    EXPECT_EQ(read->bytes, kSix);
  }
}

TEST(IdxFileTest, AMissingFileIsNamed) {
  const ImageFolder folder;
  EXPECT_EQ(ReadIdxFile(folder.PathOf("none"), 1).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ReadError(folder, "none", 1), HasSubstr("No such file"));
}

TEST(IdxFileTest, AFolderIsNoFile) {
  const ImageFolder folder;
  EXPECT_THAT(ReadError(folder, "", 1), HasSubstr("cannot read"));
}

TEST(IdxFileTest, AWrongMagicNumberIsShownBesideTheRightOne) {
  const ImageFolder folder;
  folder.Write("labels", ImageFolder::Idx({0x0801, 6}, kSix));
  folder.Write("floats", ImageFolder::Idx({0x0D03, 1, 2, 3}, kSix));
  folder.Write("page", {'<', 'h', 't', 'm', 'l', '>', ' ', ' '});
  EXPECT_THAT(ReadError(folder, "labels", 2),
              HasSubstr("has the magic number 0x00000801, wanted 0x00000802 (IDX, bytes in 2 dimensions)"));
  EXPECT_THAT(ReadError(folder, "floats", 3),
              HasSubstr("has the magic number 0x00000d03, wanted 0x00000803 (IDX, bytes in 3 dimensions)"));
  EXPECT_THAT(ReadError(folder, "page", 1), HasSubstr("wanted 0x00000801 (IDX, bytes in 1 dimension)"));
}

TEST(IdxFileTest, AFileThatEndsTooSoonSaysWhere) {
  const ImageFolder folder;
  folder.Write("plain", ImageFolder::Idx({0x0801, 7}, kSix));
  EXPECT_THAT(ReadError(folder, "plain", 1),
              HasSubstr("ends too soon: got 6 bytes after its header, wanted 7"));
  folder.Write("empty", {});
  EXPECT_THAT(ReadError(folder, "empty", 1), HasSubstr("got 0 bytes, wanted a header of 8"));
}

TEST(IdxFileTest, APackedFileThatWasCutIsAShortOne) {
  const ImageFolder folder;
  folder.Truncate("train-images-idx3-ubyte.gz", 5000);
  EXPECT_THAT(ReadError(folder, "train-images-idx3-ubyte.gz", 3), HasSubstr("ends too soon: got "));
}

TEST(IdxFileTest, APackedFileWithAWrongByteIsFound) {
  const ImageFolder folder;
  folder.WritePacked("packed", ImageFolder::Idx({0x0801, 6}, kSix));
  std::fstream file(folder.PathOf("packed"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-8, std::ios::end);  // its checksum
  file.put('\x55');
  file.close();
  EXPECT_THAT(ReadError(folder, "packed", 1), HasSubstr("cannot be unpacked: "));
}

TEST(IdxFileTest, BytesTooManyAreRefused) {
  const ImageFolder folder;
  folder.Write("long", ImageFolder::Idx({0x0801, 5}, kSix));
  EXPECT_THAT(ReadError(folder, "long", 1), HasSubstr("goes on too long"));
}

TEST(IdxFileTest, ASizeBeyondTheLimitIsRefusedBeforeAnyMemoryIsTaken) {
  const ImageFolder folder;
  folder.Write("huge", ImageFolder::Idx({0x0803, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, kSix));
  EXPECT_THAT(ReadError(folder, "huge", 3), HasSubstr("wanted at most 268435456"));
}

}  // namespace
}  // namespace leeway::problem
