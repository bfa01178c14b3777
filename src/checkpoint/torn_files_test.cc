// The reader finds every cut and every change in a checkpoint: no file loads with other contents than were
// written.
#include <gtest/gtest.h>

#include "checkpoint/testing/sample_checkpoint.h"

namespace leeway {
namespace {

using sample::Bytes;
using sample::Checkpoint;

class TornFilesTest : public ::testing::Test {
 protected:
  explicit TornFilesTest(const sample::CheckpointOptions& options = {})
      : checkpoint_(sample::DrawCheckpoint(1, options)) {}

  // The whole file, as `leeway checkpoint verify` looks at it.
  bool IsGood(const ManifestFile& file, std::span<const std::byte> bytes) {
    ++cases_;
    const Result<ShardFileInfo> info = CheckShardFile(bytes);
    return info.ok() && info->bytes == file.bytes && info->checksum == file.checksum;
  }

  // The records that a byte is in, as a server loads them: it must not get what was not written.
  void ExpectNoBadLoad(std::uint32_t file, std::span<const std::byte> bytes, std::size_t at) {
    for (const ManifestTable& table : checkpoint_.manifest.tables) {
      for (const ManifestBlock& block : table.blocks) {
        const RecordPlace& place = block.record;
        if (block.file != file || at < place.offset || at >= place.offset + place.bytes) continue;
        ASSERT_GE(bytes.size(), at);
        const std::size_t there = std::min<std::size_t>(place.bytes, bytes.size() - place.offset);
        ++cases_;
        ASSERT_FALSE(DecodeRecord(place, bytes.subspan(place.offset, there), sample::TakeBuffer).ok())
            << "block " << place.block.value() << " at byte " << at;
      }
    }
  }

  const Checkpoint checkpoint_;
  std::uint64_t cases_ = 0;
};

TEST_F(TornFilesTest, EveryShardFileIsGoodAsWritten) {
  std::size_t bytes = 0;
  for (const ManifestFile& file : checkpoint_.manifest.files) {
    bytes += file.bytes;
    EXPECT_TRUE(IsGood(file, checkpoint_.files.at(file.name)));
  }
  EXPECT_GT(bytes, 200U << 10);
}

TEST_F(TornFilesTest, ACutAnywhereInAShardFileIsFound) {
  for (std::uint32_t i = 0; i < checkpoint_.manifest.files.size(); ++i) {
    const ManifestFile& file = checkpoint_.manifest.files[i];
    const Bytes& whole = checkpoint_.files.at(file.name);
    for (std::size_t at = 0; at < whole.size(); at += at < 256 || whole.size() - at < 128 ? 1 : 64) {
      ASSERT_FALSE(IsGood(file, std::span(whole).first(at))) << file.name << " cut to " << at;
      ExpectNoBadLoad(i, std::span(whole).first(at), at);
    }
  }
  EXPECT_GE(cases_, 5'000U);
}

TEST_F(TornFilesTest, AFlippedBitAnywhereInAShardFileIsFound) {
  for (std::uint32_t i = 0; i < checkpoint_.manifest.files.size(); ++i) {
    const ManifestFile& file = checkpoint_.manifest.files[i];
    Bytes bytes = checkpoint_.files.at(file.name);
    for (std::size_t at = i; at < bytes.size(); at += 64) {
      const auto bit = std::byte{1} << static_cast<int>(at / 64 % 8);
      bytes[at] ^= bit;
      ASSERT_FALSE(IsGood(file, bytes)) << file.name << " at " << at;
      ExpectNoBadLoad(i, bytes, at);
      bytes[at] ^= bit;
    }
  }
  EXPECT_GE(cases_, 5'000U);
}

TEST_F(TornFilesTest, EveryBitOfHeadersAndFooterIsFound) {
  const ManifestFile& file = checkpoint_.manifest.files[0];
  Bytes bytes = checkpoint_.files.at(file.name);
  std::vector<std::pair<std::size_t, std::size_t>> ranges{
      {0, 44}, {bytes.size() - kShardFileFooterBytes, bytes.size()}};
  for (const ManifestTable& table : checkpoint_.manifest.tables) {
    for (const ManifestBlock& block : table.blocks) {
      if (block.file == 0)
        ranges.emplace_back(block.record.offset, block.record.offset + kRecordHeadBytes + 64);
    }
  }
  for (const auto& [begin, end] : ranges) {
    for (std::size_t bit = begin * 8; bit < end * 8; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
      ASSERT_FALSE(IsGood(file, bytes)) << "bit " << bit;
      ExpectNoBadLoad(0, bytes, bit / 8);
      bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    }
  }
  EXPECT_GE(cases_, 2'000U);
}

TEST_F(TornFilesTest, EveryBitAndEveryCutOfTheStateOfARankIsFound) {
  for (const ManifestRank& rank : checkpoint_.manifest.ranks) {
    Bytes bytes = checkpoint_.files.at(rank.file);
    const auto is_good = [&](std::span<const std::byte> file) {
      ++cases_;
      const Result<RankFile> read = DecodeRankFile(file);
      return read.ok() && file.size() == rank.bytes && read->checksum == rank.checksum;
    };
    ASSERT_TRUE(is_good(bytes));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      ASSERT_FALSE(is_good(std::span(bytes).first(at))) << rank.file << " cut to " << at;
    }
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
      ASSERT_FALSE(is_good(bytes)) << rank.file << " bit " << bit;
      bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    }
  }
  EXPECT_GE(cases_, 2'000U);
}

TEST_F(TornFilesTest, EveryBitAndEveryCutOfTheManifestIsFound) {
  std::string text = WriteManifest(checkpoint_.manifest);
  ASSERT_TRUE(ReadManifest(text).ok());
  for (std::size_t at = 0; at < text.size(); ++at, ++cases_) {
    ASSERT_FALSE(ReadManifest(std::string_view(text).substr(0, at)).ok()) << "cut to " << at;
  }
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit, ++cases_) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    ASSERT_FALSE(ReadManifest(text).ok()) << "bit " << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  }
  EXPECT_GE(cases_, 10'000U);
}

// Files of the size that a small model has: 13 MiB in six of them.
class TornLargeFilesTest : public TornFilesTest {
 protected:
  TornLargeFilesTest()
      : TornFilesTest({.tables = {{500, 500}, {400, 500}, {9}}, .block_elements = 16'384, .shards = 6}) {}
};

TEST_F(TornLargeFilesTest, ACutAndAFlippedBitAtEvery4KiBAreFound) {
  constexpr std::size_t kPage = 4096;
  std::size_t all_bytes = 0, pages = 0;
  for (std::uint32_t i = 0; i < checkpoint_.manifest.files.size(); ++i) {
    const ManifestFile& file = checkpoint_.manifest.files[i];
    Bytes bytes = checkpoint_.files.at(file.name);
    ASSERT_TRUE(IsGood(file, bytes));
    all_bytes += bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += kPage, ++pages) {
      ASSERT_FALSE(IsGood(file, std::span(bytes).first(at))) << file.name << " cut to " << at;
      ExpectNoBadLoad(i, std::span(bytes).first(at), at);
      const auto bit = std::byte{1} << static_cast<int>(at / kPage % 8);
      bytes[at] ^= bit;
      ASSERT_FALSE(IsGood(file, bytes)) << file.name << " at " << at;
      ExpectNoBadLoad(i, bytes, at);
      bytes[at] ^= bit;
    }
  }
  EXPECT_GE(all_bytes, 12U << 20);
  EXPECT_GE(pages, 3'000U);
  EXPECT_GE(cases_, 12'000U);
}

}  // namespace
}  // namespace leeway
