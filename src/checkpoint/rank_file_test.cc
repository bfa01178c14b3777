#include "checkpoint/rank_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "checkpoint/checksum.h"
#include "checkpoint/testing/sample_checkpoint.h"

namespace leeway {
namespace {

using sample::Bytes;
using ::testing::HasSubstr;

RankFileHead Head(std::string job = "job") {
  return {std::move(job), 12, WorkerId(3), Incarnation(2), Iteration(500)};
}

Bytes Write(const RankFileHead& head, std::size_t state_bytes) {
  Bytes state(state_bytes);
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::byte>(i * 7);
  const EncodedRankFile file = EncodeRankFile(head, std::make_shared<const Bytes>(state));
  const Bytes bytes = sample::Joined(file.pieces);
  EXPECT_EQ(file.bytes, bytes.size());
  EXPECT_EQ(file.checksum, ChecksumOf(bytes));
  return bytes;
}

TEST(RankFileTest, WhatWasWrittenComesBack) {
  for (const std::string& job :
       {std::string(), std::string("a"), std::string("12345678"), std::string(4096, 'x')}) {
    for (const std::size_t bytes : {0, 1, 100'000}) {
      const Bytes file = Write(Head(job), bytes);
      const Result<RankFile> read = DecodeRankFile(file);
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      EXPECT_EQ(read->head, Head(job));
      EXPECT_EQ(read->state.size(), bytes);
      EXPECT_EQ(read->checksum, ChecksumOf(file));
    }
  }
}

TEST(RankFileTest, TheStateIsNotCopiedToBeWritten) {
  const auto state = std::make_shared<const Bytes>(64);
  const EncodedRankFile file = EncodeRankFile(Head(), state);
  EXPECT_TRUE(
      std::ranges::any_of(file.pieces, [&](const Pinned& p) { return p.bytes.data() == state->data(); }));
}

TEST(RankFileTest, EveryBitAndEveryCutIsFound) {
  Bytes file = Write(Head(), 40);
  for (std::size_t at = 0; at < file.size(); ++at) {
    EXPECT_FALSE(DecodeRankFile(std::span(file).first(at)).ok()) << "cut to " << at;
  }
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    file[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    EXPECT_FALSE(DecodeRankFile(file).ok()) << "bit " << bit;
    file[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
  }
  file.push_back(std::byte{0});
  EXPECT_THAT(DecodeRankFile(file).status().message(), HasSubstr("before a state of 40"));
}

TEST(RankFileTest, AFileOfSomethingElseIsNamed) {
  EXPECT_THAT(DecodeRankFile(Bytes(100)).status().message(), HasSubstr("got magic 0000000000000000"));
  EXPECT_THAT(DecodeRankFile(Bytes()).status().message(), HasSubstr("ends too early: got 0 bytes"));
}

}  // namespace
}  // namespace leeway
