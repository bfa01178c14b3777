#include "checkpoint/shard_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/testing/sample_checkpoint.h"

namespace leeway {
namespace {

using sample::Bytes;
using ::testing::HasSubstr;

struct Written {
  Bytes bytes;
  std::vector<RecordPlace> records;
  std::uint64_t checksum;
};

Written Write(const std::string& job, const std::vector<std::uint32_t>& blocks) {
  sample::Draw draw(1);
  ShardFileWriter writer(job, 12, ShardId(3));
  Bytes bytes = sample::Joined(writer.Header());
  const auto append = [&bytes](const std::vector<Pinned>& pieces) {
    const Bytes more = sample::Joined(pieces);
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  for (const std::uint32_t block : blocks) {
    append(writer.Add({{BlockId(block), TableId(0), block * 5ULL, 5, Term(1)}, DrawState(draw, {})}));
  }
  append(writer.Footer());
  EXPECT_EQ(writer.bytes(), bytes.size());
  return {bytes, writer.records(), writer.checksum()};
}

TEST(ShardFileTest, TheCheckFindsWhatWasWritten) {
  for (const std::string& job :
       {std::string(), std::string("a"), std::string("abcd"), std::string(kJobNameBytesMax, 'x')}) {
    const Written written = Write(job, {4, 2, 9});
    const Result<ShardFileInfo> info = CheckShardFile(written.bytes);
    ASSERT_TRUE(info.ok()) << info.status().ToString();
    EXPECT_EQ(info->job, job);
    EXPECT_EQ(info->checkpoint, 12U);
    EXPECT_EQ(info->shard, ShardId(3));
    EXPECT_EQ(info->records, written.records);
    EXPECT_EQ(info->checksum, written.checksum);
    EXPECT_EQ(info->bytes, written.bytes.size());
  }
}

TEST(ShardFileTest, AShardWithoutBlocksHasAFileToo) {
  EXPECT_TRUE(CheckShardFile(Write("job", {}).bytes).ok());
}

TEST(ShardFileTest, ProblemsNameTheOffset) {
  Written written = Write("job", {4, 2});
  const RecordPlace second = written.records[1];
  written.bytes[second.offset + second.bytes - 1] ^= std::byte{1};
  EXPECT_THAT(CheckShardFile(written.bytes).status().message(),
              HasSubstr("record at offset " + std::to_string(second.offset) + ": got checksum"));
}

TEST(ShardFileTest, ABlockThatIsThereTwiceIsFound) {
  EXPECT_THAT(CheckShardFile(Write("job", {4, 4}).bytes).status().message(),
              HasSubstr("block 4 is in the file twice"));
}

TEST(ShardFileTest, WhatFollowsTheFooterIsFound) {
  Written written = Write("job", {4});
  written.bytes.push_back(std::byte{0});
  EXPECT_THAT(CheckShardFile(written.bytes).status().message(), HasSubstr("1 bytes are left over"));
}

TEST(ShardFileTest, AReaderThatFailsOrGivesTooLittleIsReported) {
  const auto fails = [](std::uint64_t, std::uint64_t) {
    return Result<Bytes>(Status(StatusCode::kUnavailable, "gone"));
  };
  EXPECT_EQ(CheckShardFile(100, fails).status().code(), StatusCode::kUnavailable);
  const auto shorter = [](std::uint64_t, std::uint64_t) { return Result<Bytes>(Bytes()); };
  EXPECT_THAT(CheckShardFile(100, shorter).status().message(),
              HasSubstr("got 0 bytes at offset 0, wanted 28"));
}

}  // namespace
}  // namespace leeway
