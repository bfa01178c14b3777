// The bytes of each data message.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wire/messages.h"

namespace leeway::wire {
namespace {

using LayoutBytes = std::vector<std::byte>;

template <typename Message>
LayoutBytes LayoutOf(const Message& message) {
  LayoutBytes body;
  Encode(message, body);
  return body;
}

LayoutBytes FromHex(std::string_view hex) {
  LayoutBytes bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  for (std::size_t i = 0; i < hex.size();) {
    if (hex[i] == ' ') {
      ++i;
      continue;
    }
    bytes.push_back(static_cast<std::byte>(digit(hex[i]) * 16 + digit(hex[i + 1])));
    i += 2;
  }
  return bytes;
}

// These bytes are version 5 of the protocol: docs/protocol.md shows the same tables.
TEST(MessageLayoutTest, TheLayoutsAreAsDocumented) {
  const WorkerId worker(0x01020304);
  const Incarnation incarnation(2);
  const BlockId block(0x0B0C);
  const Term term(5);
  const std::string head = "04030201 02000000 01000000 ";
  const std::string pad = "00000000 ";
  const std::string entry = "0C0B0000 05000000 ";

  EXPECT_EQ(LayoutOf(Init{worker, incarnation, {{block, term, 0x100}}}),
            FromHex(head + pad + entry + "00010000" + pad));
  EXPECT_EQ(
      LayoutOf(Push{worker,
                    incarnation,
                    Iteration(7),
                    32,
                    9,
                    {1.0F, 2.0F, 0.5F, 0.25F, 4.0F, -1.0F},
                    {{block, term, Seq(6), Version(8), 0x100, 0x10, 0x200, Format::kFloat32}}}),
      FromHex(
          head +
          "20000000 0700000000000000 0900000000000000 0000803F 00000040 0000003F 0000803E 00008040 000080BF" +
          entry + "0600000000000000 0800000000000000 00010000 10000000 00020000 0100 0000"));
  EXPECT_EQ(LayoutOf(Absent{worker, incarnation, Iteration(7), {{block, term, Seq(6), AbsentEntry::kIdle}}}),
            FromHex(head + pad + "0700000000000000" + entry + "0600000000000000 01 00000000000000"));
  EXPECT_EQ(LayoutOf(Resume{worker, incarnation, {{block, term, Iteration(7)}}}),
            FromHex(head + pad + entry + "0700000000000000"));
  EXPECT_EQ(LayoutOf(Resumed{worker, incarnation, {{block, term, Seq(6), Iteration(-1)}}}),
            FromHex(head + pad + entry + "0600000000000000 FFFFFFFFFFFFFFFF"));
  EXPECT_EQ(
      LayoutOf(Verdicts{worker,
                        incarnation,
                        {{block, term, Seq(6), Verdict::kMoved, Iteration(-1), ShardId(0x0D), Term(0x0E)}}}),
      FromHex(head + pad + entry + "0600000000000000 FFFFFFFFFFFFFFFF 0D000000 0E000000 12 00000000000000"));
  EXPECT_EQ(
      LayoutOf(Pull{worker,
                    incarnation,
                    Epoch(3),
                    Pull::kObserver,
                    {{block, term, Iteration(-1), Version(8), 0.5F, Ask(0x0D), 0x0E, View(0x0F), 2}}}),
      FromHex(head + "01 000000 0300000000000000" + entry +
              "FFFFFFFFFFFFFFFF 0800000000000000 0F00000000000000 0D000000 0000003F 0E 02 000000000000"));
  AnswerEntry answer{block, term, Ask(0x0D), Iteration(7), Version(8), 0x100, 0x10, 0x200};
  answer.content = AnswerEntry::Content::kBytes;
  answer.held_for = WorkerId(9);
  answer.held_us = 0x300;
  answer.view = View(0x21);
  answer.base = View(0x20);
  answer.mean = Iteration(6);
  EXPECT_EQ(LayoutOf(Answers{worker, incarnation, {answer}}),
            FromHex(head + pad + entry +
                    "0700000000000000 0800000000000000 2100000000000000 2000000000000000 0600000000000000"
                    "0D000000 00030000 09000000 00010000 10000000 00020000 0100 01 0000000000"));
  EXPECT_EQ(
      LayoutOf(Assign{worker, incarnation, {{block, term, Seq(4), Version(5), 6, 0x100, 2}}}),
      FromHex(head + pad + entry + "0400000000000000 0500000000000000 0600000000000000 00010000 02 000000"));
  EXPECT_EQ(LayoutOf(Read{worker, incarnation, 9, ReadWhat::kState, {{block, term, Version(5)}}}),
            FromHex(head + "02 000000 0900000000000000" + entry + "0500000000000000"));
  EXPECT_EQ(LayoutOf(Arrays{worker, incarnation, 9, {{block, term, Version(5), 6, 0x100, 2, 3}}}),
            FromHex(head + pad + "0900000000000000" + entry +
                    "0500000000000000 0600000000000000 00010000 02 03 0000"));
}

TEST(VerdictTest, OnlyTheFiveVerdictsOfPushesConsumeASequence) {
  for (int v = 0; v < 256; ++v)
    EXPECT_EQ(ConsumesSeq(Verdict{static_cast<std::uint8_t>(v)}), v >= 1 && v <= 5) << v;
}

}  // namespace
}  // namespace leeway::wire
