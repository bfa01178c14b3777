#include "node/scheduler/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace leeway {
namespace {

using LogBytes = std::vector<std::byte>;
using ::testing::HasSubstr;

// A record that can be told by its number; the first one is whole.
wire::pb::LogRecord Numbered(std::uint64_t number) {
  wire::pb::LogRecord record;
  record.set_whole(number == 0);
  record.mutable_state()->set_epoch(number);
  record.mutable_state()->set_message(std::string(number * 7, 'x'));
  return record;
}

void Add(LogBytes& file, std::uint64_t number, std::uint64_t synced) {
  const LogBytes record = EncodeLogRecord(Numbered(number), synced);
  file.insert(file.end(), record.begin(), record.end());
}

// `records` of them, each synced before the next was written; `ends` is where each ends.
LogBytes SyncedLog(std::uint64_t records, std::vector<std::size_t>& ends) {
  LogBytes file = EncodeLogHeader("a job");
  for (std::uint64_t i = 0; i < records; ++i) {
    Add(file, i, i == 0 ? 0 : file.size());
    ends.push_back(file.size());
  }
  return file;
}

TEST(LogFileTest, WhatWasWrittenIsRead) {
  std::vector<std::size_t> ends;
  const LogBytes file = SyncedLog(4, ends);
  const Result<DecodedLog> log = DecodeLog(file);
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  EXPECT_EQ(log->job, "a job");
  EXPECT_EQ(log->bytes, file.size());
  EXPECT_EQ(log->torn, "");
  ASSERT_EQ(log->records.size(), 4U);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(log->records[i].state().epoch(), i);
}

TEST(LogFileTest, AfterEveryTruncationAllWholeRecordsCount) {
  std::vector<std::size_t> ends;
  const LogBytes file = SyncedLog(4, ends);
  for (std::size_t size = 0; size <= file.size(); ++size) {
    const Result<DecodedLog> log = DecodeLog(std::span(file).first(size));
    if (size < ends[0]) {
      EXPECT_FALSE(log.ok()) << "the first record was synced before the file got its name; " << size;
      continue;
    }
    ASSERT_TRUE(log.ok()) << size << ": " << log.status().ToString();
    const auto whole = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [size](std::size_t end) { return end <= size; }));
    EXPECT_EQ(log->records.size(), whole) << size;
    EXPECT_EQ(log->bytes, ends[whole - 1]) << size;
    EXPECT_EQ(log->torn.empty(), size == ends[whole - 1]) << size;
  }
}

TEST(LogFileTest, EveryFlippedBitIsFound) {
  std::vector<std::size_t> ends;
  const LogBytes file = SyncedLog(4, ends);
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    LogBytes flipped = file;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    const Result<DecodedLog> log = DecodeLog(flipped);
    // A record that a later one says was synced must be there; the last one may be a write that was cut
    // short.
    if (bit / 8 < ends[2]) {
      ASSERT_FALSE(log.ok()) << bit;
      EXPECT_NE(log.status().message(), "");
    } else {
      ASSERT_TRUE(log.ok()) << bit << ": " << log.status().ToString();
      EXPECT_EQ(log->records.size(), 3U);
      EXPECT_NE(log->torn, "");
    }
  }
}

TEST(LogFileTest, AHoleInWhatWasNeverSyncedIsTheEnd) {
  LogBytes file = EncodeLogHeader("j");
  Add(file, 0, 0);
  const std::size_t synced = file.size();
  Add(file, 1, synced);
  const std::size_t second = file.size();
  Add(file, 2, synced);  // a loss of power kept this page and not the one before
  Add(file, 3, synced);
  for (std::size_t i = synced; i < second; ++i) file[i] = std::byte{0};
  const Result<DecodedLog> log = DecodeLog(file);
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  EXPECT_EQ(log->records.size(), 1U);
  EXPECT_EQ(log->bytes, synced);
  EXPECT_THAT(log->torn, HasSubstr("its record 1 at offset"));

  Add(file, 4, second);  // but if it had been synced, somebody has heard of it
  const Result<DecodedLog> damaged = DecodeLog(file);
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.status().message(), HasSubstr("had been synced and announced"));
}

TEST(LogFileTest, WhatIsNoLogIsNamed) {
  EXPECT_THAT(DecodeLog({}).status().message(), HasSubstr("its header: got 0 bytes"));
  LogBytes file = EncodeLogHeader("j");
  EXPECT_THAT(DecodeLog(file).status().message(), HasSubstr("no record"));
  Add(file, 1, 0);
  EXPECT_THAT(DecodeLog(file).status().message(), HasSubstr("wanted the first to be whole"));
  file = EncodeLogHeader("j");
  Add(file, 0, 0);
  Add(file, 0, file.size());
  EXPECT_THAT(DecodeLog(file).status().message(), HasSubstr("and no other"));
  file[8] = std::byte{1};
  EXPECT_THAT(DecodeLog(file).status().message(), HasSubstr("got format 1, wanted 2"));
}

TEST(LogFileTest, AnyBytesAtTheEndDoNoHarm) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 300; ++run) {
    std::vector<std::size_t> ends;
    LogBytes file = SyncedLog(2, ends);
    const std::size_t more = 1 + random() % 200;
    for (std::size_t i = 0; i < more; ++i) file.push_back(static_cast<std::byte>(random()));
    const Result<DecodedLog> log = DecodeLog(file);
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    EXPECT_EQ(log->records.size(), 2U);
    EXPECT_NE(log->torn, "");
  }
}

}  // namespace
}  // namespace leeway
