#include "checkpoint/block_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "block/testing/hand_fed_block.h"
#include "checkpoint/testing/sample_checkpoint.h"

namespace leeway {
namespace {

using sample::Bytes;
using sample::Draw;
using sample::Joined;
using ::testing::HasSubstr;

BlockRecord RecordOf(BlockState state, std::uint64_t elements) {
  return {{BlockId(3), TableId(1), 40, elements, Term(2)}, std::move(state)};
}

std::vector<float> Floats(const ConstBufferRef& buffer) {
  return buffer == nullptr ? std::vector<float>()
                           : std::vector<float>(buffer->floats().begin(), buffer->floats().end());
}

void ExpectSame(const BlockRecord& got, const BlockRecord& wanted) {
  EXPECT_EQ(got.id, wanted.id);
  EXPECT_EQ(got.state.version, wanted.state.version);
  EXPECT_EQ(got.state.steps, wanted.state.steps);
  EXPECT_EQ(Floats(got.state.values), Floats(wanted.state.values));
  ASSERT_EQ(got.state.slots.size(), wanted.state.slots.size());
  for (std::size_t i = 0; i < got.state.slots.size(); ++i) {
    EXPECT_EQ(Floats(got.state.slots[i]), Floats(wanted.state.slots[i]));
  }
  EXPECT_EQ(got.state.progress, wanted.state.progress);
  EXPECT_EQ(got.state.ledger, wanted.state.ledger);
  EXPECT_EQ(got.state.memory, wanted.state.memory);
  ASSERT_EQ(got.state.sums.size(), wanted.state.sums.size());
  for (std::size_t i = 0; i < got.state.sums.size(); ++i) {
    const OpenSumState& a = got.state.sums[i];
    const OpenSumState& b = wanted.state.sums[i];
    EXPECT_EQ(std::tie(a.iteration, a.samples, a.contributors, a.steps, a.chosen, a.chosen_seq, a.hyper,
                       a.hyper_mismatch),
              std::tie(b.iteration, b.samples, b.contributors, b.steps, b.chosen, b.chosen_seq, b.hyper,
                       b.hyper_mismatch));
    ASSERT_EQ(a.contributions.size(), b.contributions.size());
    for (std::size_t j = 0; j < a.contributions.size(); ++j) {
      EXPECT_EQ(a.contributions[j].from, b.contributions[j].from);
      EXPECT_EQ(a.contributions[j].seq, b.contributions[j].seq);
      EXPECT_EQ(a.contributions[j].weight, b.contributions[j].weight);
      EXPECT_EQ(Floats(a.contributions[j].gradient), Floats(b.contributions[j].gradient));
    }
  }
}

// There and back, and once more to the same bytes.
void ExpectRoundTrip(const BlockRecord& record) {
  const Bytes bytes = Joined(EncodeRecord(record).pieces);
  const Result<BlockRecord> again = DecodeRecord(bytes, sample::TakeBuffer);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  ExpectSame(*again, record);
  EXPECT_EQ(Joined(EncodeRecord(*again).pieces), bytes);
}

TEST(BlockRecordTest, EveryKindOfStateComesBack) {
  Draw draw(1);
  for (const std::size_t elements : {0, 1, 5, 1000}) {
    for (const int slots : {-1, 0, 1, 2}) {
      for (const std::uint32_t lives : {0U, 1U, 300U}) {
        for (const int sums : {0, 1, 3}) {
          for (const bool ordered : {false, true}) {
            for (const std::size_t memory : {0, 1, 17}) {
              ExpectRoundTrip(
                  RecordOf(DrawState(draw, {elements, slots, lives, sums, ordered, memory}), elements));
            }
          }
        }
      }
    }
  }
}

TEST(BlockRecordTest, WhatARealBlockSavesComesBack) {
  for (const char* apply : {"aggregate", "aggregate:reduce=ordered", "immediate"}) {
    for (const char* optimizer : {"sgd", "momentum", "adam"}) {
      HandFedBlock block(HandFedOptions{.sync = "ssp:1", .apply = apply, .optimizer = optimizer});
      ExpectRoundTrip(RecordOf(block->Save(), block->elements()));
      block.Begin(3);
      for (const std::uint32_t worker : {0U, 1U, 2U}) block.Push(worker, 0);
      for (const std::uint32_t worker : {0U, 2U}) block.Push(worker, 1);
      ExpectRoundTrip(RecordOf(block->Save(), block->elements()));
    }
  }
}

TEST(BlockRecordTest, ThePayloadIsPinnedAndNotCopied) {
  Draw draw(2);
  const BlockRecord record = RecordOf(DrawState(draw, {}), 5);
  const EncodedRecord encoded = EncodeRecord(record);
  ASSERT_EQ(encoded.pieces.size(), 1 + 3 + 2U);
  EXPECT_EQ(encoded.pieces[1].bytes.data(), record.state.values->bytes().data());
  EXPECT_EQ(encoded.pieces[1].pin, record.state.values);
}

// Puts the right checksum over whatever the bytes are.
void Sign(Bytes& bytes) {
  Checksum checksum;
  checksum.Add(std::span(bytes).first(16));
  checksum.Add(std::span(bytes).subspan(kRecordHeadBytes));
  const std::uint64_t value = checksum.value();
  std::memcpy(bytes.data() + 16, &value, sizeof value);
}

std::string ProblemOf(const Bytes& bytes) {
  const Result<BlockRecord> record = DecodeRecord(bytes, [](std::size_t elements, Arena::Use) {
    ADD_FAILURE() << "a buffer was taken before all was checked";
    return sample::TakeBuffer(elements);
  });
  return record.status().message();
}

TEST(BlockRecordTest, OnlyValuesAreToBeSent) {
  Draw draw(4);
  const BlockRecord record = RecordOf(DrawState(draw, {5, 2, 3, 1, true, 0}), 5);
  std::map<Arena::Use, int> taken;
  const Result<BlockRecord> again =
      DecodeRecord(Joined(EncodeRecord(record).pieces), [&](std::size_t elements, Arena::Use use) {
        ++taken[use];
        return sample::TakeBuffer(elements);
      });
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(taken[Arena::Use::kSent], 1);
  EXPECT_GE(taken[Arena::Use::kKept], 2) << "the slots, and what is in sums";
}

TEST(BlockRecordTest, LengthsAreCheckedEvenUnderARightChecksum) {
  Draw draw(3);
  const Bytes good = Joined(EncodeRecord(RecordOf(DrawState(draw, {}), 5)).pieces);
  constexpr std::size_t kElementsAt = kRecordHeadBytes + 16;
  constexpr std::size_t kSlotsAt = kRecordHeadBytes + 28 + 16;
  constexpr std::size_t kUntouchedAt = kSlotsAt + 4 + 16;
  constexpr std::size_t kLivesAt = kUntouchedAt + 1 + 4;  // behind taken
  const auto with = [&good](std::size_t at, auto value) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + at, &value, sizeof value);
    Sign(bytes);
    return bytes;
  };
  EXPECT_THAT(ProblemOf(with(0, std::uint32_t{7})), HasSubstr("magic 00000007"));
  EXPECT_THAT(ProblemOf(with(4, ~std::uint32_t{3})), HasSubstr("body of 4294967292 bytes"));
  EXPECT_THAT(ProblemOf(with(8, ~std::uint64_t{0})), HasSubstr("18446744073709551615"));
  EXPECT_THAT(ProblemOf(with(kElementsAt, std::uint64_t{6})), HasSubstr("wanted 120"));
  EXPECT_THAT(ProblemOf(with(kElementsAt, ~std::uint64_t{0})), HasSubstr("elements"));
  EXPECT_THAT(ProblemOf(with(kSlotsAt, ~std::uint32_t{0})), HasSubstr("slots: got 4294967295"));
  EXPECT_THAT(ProblemOf(with(kUntouchedAt, std::uint8_t{2})), HasSubstr("a bool: got 2"));
  EXPECT_THAT(ProblemOf(with(kLivesAt, ~std::uint32_t{0})), HasSubstr("lives: got 4294967295 entries"));
  EXPECT_THAT(ProblemOf(Bytes(good.begin(), good.begin() + 20)), HasSubstr("got 20 bytes"));
}

TEST(BlockRecordTest, ARecordOfAnotherCheckpointIsNotTaken) {
  Draw draw(4);
  ShardFileWriter ours("job", 1, ShardId(0)), theirs("job", 2, ShardId(0));
  static_cast<void>(ours.Header());
  static_cast<void>(theirs.Header());
  const BlockRecord before = RecordOf(DrawState(draw, {}), 5);
  BlockRecord after = before;
  after.state.values = draw.Floats(5);
  const Bytes our_bytes = Joined(ours.Add(before));
  const Bytes their_bytes = Joined(theirs.Add(after));
  const RecordPlace place = ours.records().front();
  EXPECT_TRUE(DecodeRecord(place, our_bytes, sample::TakeBuffer).ok());
  EXPECT_THAT(DecodeRecord(place, their_bytes, sample::TakeBuffer).status().message(),
              HasSubstr("wanted that of the manifest"));
}

}  // namespace
}  // namespace leeway
