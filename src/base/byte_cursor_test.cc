#include "base/byte_cursor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace leeway {
namespace {

TEST(ByteCursorTest, WhatIsWrittenIsReadBack) {
  std::vector<std::byte> bytes = {std::byte{0xAA}};
  ByteWriter writer(bytes);
  writer.Write<std::uint8_t>(7);
  writer.Write<std::int64_t>(-2);
  writer.Write<float>(1.5F);
  ASSERT_EQ(bytes.size(), 1U + 1 + 8 + 4) << "a writer appends";

  ByteReader reader(bytes);
  EXPECT_EQ(reader.Read<std::uint8_t>(), 0xAA);
  EXPECT_EQ(reader.Read<std::uint8_t>(), 7);
  EXPECT_EQ(reader.Read<std::int64_t>(), -2);
  EXPECT_EQ(reader.left(), 4U);
  EXPECT_EQ(reader.Read<float>(), 1.5F);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.left(), 0U);
}

TEST(ByteCursorTest, BytesAreLittleEndian) {
  std::vector<std::byte> bytes;
  ByteWriter(bytes).Write<std::uint32_t>(0x01020304);
  EXPECT_EQ(bytes, (std::vector<std::byte>{std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}}));
}

TEST(ByteCursorTest, AReadPastTheEndGivesZeroAndSpoilsTheReaderForGood) {
  const std::vector<std::byte> bytes(3, std::byte{0xFF});
  ByteReader reader(bytes);
  EXPECT_EQ(reader.Read<std::uint32_t>(), 0U);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.left(), 0U);
  EXPECT_EQ(reader.Read<std::uint8_t>(), 0U) << "the bytes before the end are gone too";
  EXPECT_FALSE(reader.ok());
}

TEST(ByteCursorTest, AnEmptySpanIsReadable) {
  ByteReader reader({});
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.Read<std::uint8_t>(), 0U);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace leeway
