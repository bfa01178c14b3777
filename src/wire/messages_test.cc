#include "wire/messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace leeway::wire {
namespace {

using Bytes = std::vector<std::byte>;

// Draws messages that a correct peer may send, with every field anywhere in its range.
class MessageDraw {
 public:
  explicit MessageDraw(std::uint64_t seed) : random_(seed) {}

  void Fill(Init& m) {
    FillHead(m);
    for (InitEntry& e : m.entries) e.payload_bytes = U32();
  }
  void Fill(Push& m) {
    FillHead(m);
    m.iteration = AnIteration(0);
    m.samples = U32();
    m.steps = random_();
    for (float* f : {&m.hyper.lr, &m.hyper.weight_decay, &m.hyper.momentum, &m.hyper.beta2, &m.hyper.eps,
                     &m.hyper.dampening}) {
      *f = Finite();
    }
    for (PushEntry& e : m.entries) {
      e.seq = ASeq();
      e.base_version = Version(random_());
      e.SetWhole(U32());
    }
  }
  void Fill(Resume& m) {
    FillHead(m);
    for (ResumeEntry& e : m.entries) e.next = AnIteration(0);
  }
  void Fill(Resumed& m) {
    FillHead(m);
    for (ResumedEntry& e : m.entries) {
      e.last = Seq(random_());
      e.v_train = AnIteration(-1);
    }
  }
  void Fill(Absent& m) {
    FillHead(m);
    m.iteration = AnIteration(0);
    for (AbsentEntry& e : m.entries) {
      e.seq = ASeq();
      e.flags = random_() % 2 == 0 ? AbsentEntry::kIdle : 0;
    }
  }
  void Fill(Verdicts& m) {
    static constexpr std::uint8_t kAll[] = {1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20};
    FillHead(m);
    for (VerdictEntry& e : m.entries) {
      e.seq = Seq(random_());
      e.verdict = Verdict{kAll[random_() % std::size(kAll)]};
      e.v_train = AnIteration(-1);
    }
  }
  void Fill(Pull& m) {
    FillHead(m);
    m.epoch_min = Epoch(random_());
    m.flags = static_cast<std::uint8_t>(random_() % 8);
    for (PullEntry& e : m.entries) {
      e.progress = AnIteration(-1);
      e.cached_version = Version(random_());
      e.significance = Finite();
      e.ask = Ask(U32() | 1);
      e.priority = static_cast<std::uint8_t>(random_());
    }
  }
  void Fill(Answers& m) {
    FillHead(m);
    for (AnswerEntry& e : m.entries) {
      e.ask = Ask(U32() | 1);
      e.v_train = AnIteration(-1);
      e.version = Version(random_());
      e.SetWhole(random_() % 3 == 0 ? 0 : U32());
      e.mean = AnIteration(-1);
      if (e.payload_bytes == 0 && e.mean >= Iteration(0)) e.content = AnswerEntry::Content::kNoGradient;
      e.held_for = WorkerId(U32());
      e.held_us = U32();
    }
  }
  void Fill(Assign& m) {
    FillHead(m);
    for (AssignEntry& e : m.entries) {
      e.seq = ASeq();
      e.base_version = Version(random_());
      e.steps = random_();
      e.payload_bytes = U32();
      e.array = AnArray();
    }
  }
  void Fill(Read& m) {
    FillHead(m);
    m.request = random_();
    m.what = random_() % 2 == 0 ? ReadWhat::kValues : ReadWhat::kState;
    for (ReadEntry& e : m.entries) e.cached_version = Version(random_());
  }
  void Fill(Arrays& m) {
    FillHead(m);
    m.request = random_();
    for (ArraysEntry& e : m.entries) {
      e.version = Version(random_());
      e.steps = random_();
      e.array = AnArray();
      e.arrays = AnArray();
      e.payload_bytes = e.arrays == 0 ? 0 : U32() | 1;
    }
  }

 private:
  template <typename Message>
  void FillHead(Message& m) {
    m.worker = WorkerId(U32());
    m.incarnation = Incarnation(U32());
    m.entries.resize(random_() % 6);
    for (auto& e : m.entries) {
      e.block = BlockId(U32());
      e.term = Term(U32());
    }
  }
  std::uint32_t U32() { return static_cast<std::uint32_t>(random_()); }
  std::uint8_t AnArray() { return static_cast<std::uint8_t>(random_() % (kArrayMax + 1)); }
  Seq ASeq() { return Seq(random_() | 1); }
  Iteration AnIteration(std::int64_t lowest) {
    const std::uint64_t span = static_cast<std::uint64_t>(kIterationWireMax.value() - lowest) + 1;
    return Iteration(lowest + static_cast<std::int64_t>(random_() % (random_() % 2 == 0 ? 3 : span)));
  }
  float Finite() { return std::uniform_real_distribution<float>(-1e30F, 1e30F)(random_); }

  std::mt19937_64 random_;
};

template <typename Message>
std::uint64_t PayloadOf(const Message& m) {
  std::uint64_t bytes = 0;
  for (const auto& e : m.entries) {
    if constexpr (requires { e.payload_bytes; }) bytes += e.payload_bytes;
  }
  return bytes;
}

template <typename Message>
Bytes Encoded(const Message& m) {
  Bytes body;
  Encode(m, body);
  return body;
}

template <typename T>
void Poke(Bytes& body, std::size_t offset, T value) {
  ASSERT_LE(offset + sizeof value, body.size());
  std::memcpy(body.data() + offset, &value, sizeof value);
}

template <typename Message>
class MessagesTest : public testing::Test {};
using AllMessages =
    testing::Types<Init, Push, Absent, Verdicts, Pull, Answers, Assign, Read, Arrays, Resume, Resumed>;
TYPED_TEST_SUITE(MessagesTest, AllMessages);

// Equal bytes of all fields is equality of all fields: every field is in the layout, as
// TheLayoutsAreAsDocumented says.
TYPED_TEST(MessagesTest, WhatIsEncodedIsDecodedAgain) {
  TypeParam reused;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    TypeParam message;
    MessageDraw(seed).Fill(message);
    const Bytes body = Encoded(message);
    const Status status = Decode(body, PayloadOf(message), reused);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.ToString();
    ASSERT_EQ(reused.worker, message.worker);
    ASSERT_EQ(reused.incarnation, message.incarnation);
    ASSERT_EQ(reused.entries.size(), message.entries.size());
    ASSERT_EQ(Encoded(reused), body) << "seed " << seed;
  }
}

TYPED_TEST(MessagesTest, EncodeAppends) {
  TypeParam message;
  MessageDraw(1).Fill(message);
  Bytes body(3, std::byte{7});
  Encode(message, body);
  const Bytes alone = Encoded(message);
  ASSERT_EQ(body.size(), 3 + alone.size());
  EXPECT_EQ(Bytes(body.begin() + 3, body.end()), alone);
}

TYPED_TEST(MessagesTest, ABodyCutAtAnyByteIsRefused) {
  TypeParam message, out;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    MessageDraw(seed).Fill(message);
    const Bytes body = Encoded(message);
    for (std::size_t n = 0; n < body.size(); ++n) {
      const Bytes cut(body.begin(),
                      body.begin() + static_cast<std::ptrdiff_t>(n));  // so that a sanitizer sees its end
      ASSERT_EQ(Decode(cut, PayloadOf(message), out).code(), StatusCode::kProtocol)
          << "seed " << seed << ", byte " << n;
    }
  }
}

TYPED_TEST(MessagesTest, TrailingBytesAreRefused) {
  TypeParam message, out;
  MessageDraw(2).Fill(message);
  Bytes body = Encoded(message);
  body.push_back(std::byte{0});
  const Status status = Decode(body, PayloadOf(message), out);
  EXPECT_EQ(status.code(), StatusCode::kProtocol);
  EXPECT_NE(status.message().find("bytes after the head"), std::string::npos) << status.message();
}

TYPED_TEST(MessagesTest, ACountThatLiesIsRefusedBeforeAnythingIsReserved) {
  TypeParam message;
  MessageDraw(3).Fill(message);
  message.entries.resize(2);
  const Bytes honest = Encoded(message);
  for (const std::uint32_t count :
       {0U, 1U, 3U, 1000U, kEntriesMax, kEntriesMax + 1, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    Bytes body = honest;
    Poke(body, 8, count);
    TypeParam out;
    const Status status = Decode(body, 0, out);
    ASSERT_EQ(status.code(), StatusCode::kProtocol) << count;
    EXPECT_EQ(out.entries.capacity(), 0U) << count;
    EXPECT_NE(status.message().find(std::to_string(count)), std::string::npos) << status.message();
  }
}

TYPED_TEST(MessagesTest, AsManyEntriesAsAFrameMayHoldAreTaken) {
  TypeParam message, out;
  MessageDraw(3).Fill(message);
  message.entries.resize(1);
  if constexpr (requires { message.entries[0].seq; }) message.entries[0].seq = Seq(1);
  if constexpr (requires { message.entries[0].ask; }) message.entries[0].ask = Ask(1);
  message.entries.resize(kEntriesMax, message.entries[0]);
  EXPECT_TRUE(Decode(Encoded(message), PayloadOf(message), out).ok());
  message.entries.push_back(message.entries[0]);
  EXPECT_NE(Decode(Encoded(message), PayloadOf(message), out)
                .message()
                .find("got 65537 entries, wanted at most 65536"),
            std::string::npos);
}

TYPED_TEST(MessagesTest, AnotherPayloadThanTheEntriesAnnounceIsRefused) {
  TypeParam message, out;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    MessageDraw(seed).Fill(message);
    const Bytes body = Encoded(message);
    const std::uint64_t right = PayloadOf(message);
    // The last one is right modulo 2^32.
    for (const std::uint64_t wrong : {right + 1, right - 1, right + (std::uint64_t{1} << 32)}) {
      ASSERT_EQ(Decode(body, wrong, out).code(), StatusCode::kProtocol) << "seed " << seed << ": " << wrong;
    }
  }
}

TYPED_TEST(MessagesTest, DecodingIntoEntriesWithRoomAllocatesNothing) {
  TypeParam message, out;
  MessageDraw(4).Fill(message);
  out.entries.reserve(16);
  const auto* const before = out.entries.data();
  ASSERT_TRUE(Decode(Encoded(message), PayloadOf(message), out).ok());
  EXPECT_EQ(out.entries.data(), before);
}

TYPED_TEST(MessagesTest, FlippedBytesAreRefusedOrDecodeToWhatTheySay) {
  std::size_t accepted = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    TypeParam message, out;
    MessageDraw(seed).Fill(message);
    Bytes body = Encoded(message);
    std::mt19937_64 random(seed);
    body[random() % body.size()] ^= static_cast<std::byte>(1 + random() % 255);
    const Status status = Decode(body, PayloadOf(message), out);
    if (status.ok()) {
      ++accepted;
      ASSERT_EQ(Encoded(out), body) << "seed " << seed;
    } else {
      ++refused;
      ASSERT_EQ(status.code(), StatusCode::kProtocol);
    }
  }
  EXPECT_GT(accepted, 0U);
  EXPECT_GT(refused, 0U);
}

// One value that no correct peer sends, written over a message that is right otherwise.
struct WrongField {
  std::function<Status()> decode;
  std::string message;
};

template <typename Message, typename T>
WrongField Wrong(std::size_t offset, T value, std::string message) {
  return {[offset, value] {
            Message m, out;
            m.worker = WorkerId(3);
            m.entries.resize(1);
            m.entries[0].block = BlockId(9);
            if constexpr (requires { m.entries[0].seq; }) m.entries[0].seq = Seq(1);
            if constexpr (requires { m.entries[0].ask; }) m.entries[0].ask = Ask(1);
            Bytes body = Encoded(m);
            EXPECT_TRUE(Decode(body, 0, out).ok()) << "right before the poke";
            Poke(body, offset, value);
            return Decode(body, 0, out);
          },
          std::move(message)};
}

TEST(MessageFieldsTest, ErrorsSayWhichFieldGotWhatAndWhatWasWanted) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr std::int64_t kTooFar = (std::int64_t{1} << 62) + 1;
  // The offsets are those of docs/protocol.md.
  const std::vector<WrongField> cases = {
      Wrong<Push>(16, std::int64_t{-1}, "Push of worker 3: iteration: got -1, wanted 0 to 2^62"),
      Wrong<Push>(16, kTooFar, "Push of worker 3: iteration: got 4611686018427387905, wanted 0 to 2^62"),
      Wrong<Push>(32, kNan, "Push of worker 3: lr: got nan, wanted a finite number"),
      Wrong<Push>(36, kInf, "Push of worker 3: weight_decay: got inf, wanted a finite number"),
      Wrong<Push>(40, -kInf, "Push of worker 3: momentum: got -inf, wanted a finite number"),
      Wrong<Push>(44, kNan, "Push of worker 3: beta2: got nan, wanted a finite number"),
      Wrong<Push>(48, kNan, "Push of worker 3: eps: got nan, wanted a finite number"),
      Wrong<Push>(52, kNan, "Push of worker 3: dampening: got nan, wanted a finite number"),
      Wrong<Push>(56 + 8, std::uint64_t{0},
                  "Push of worker 3: entry 0 (block 9): seq: got 0, wanted at least 1"),
      Wrong<Push>(56 + 28, std::uint32_t{8},
                  "Push of worker 3: entry 0 (block 9): offset: got 8, wanted 0 (the whole block)"),
      Wrong<Push>(56 + 32, std::uint32_t{8},
                  "Push of worker 3: entry 0 (block 9): total: got 8, wanted as many as payload_bytes (the "
                  "whole block)"),
      Wrong<Push>(56 + 36, std::uint16_t{2},
                  "Push of worker 3: entry 0 (block 9): format: got 2, wanted 1 (float32)"),
      Wrong<Push>(56 + 39, std::uint8_t{1}, "Push of worker 3: entry 0 (block 9): padding: got 1, wanted 0"),
      Wrong<Absent>(12, std::uint32_t{5}, "Absent of worker 3: padding: got 5, wanted 0"),
      Wrong<Absent>(16, std::int64_t{-1}, "Absent of worker 3: iteration: got -1, wanted 0 to 2^62"),
      Wrong<Absent>(24 + 8, std::uint64_t{0},
                    "Absent of worker 3: entry 0 (block 9): seq: got 0, wanted at least 1"),
      Wrong<Absent>(24 + 16, std::uint8_t{2},
                    "Absent of worker 3: entry 0 (block 9): flags: got 2, wanted 0 or 1 (idle)"),
      Wrong<Absent>(24 + 16, std::uint8_t{0x81},
                    "Absent of worker 3: entry 0 (block 9): flags: got 129, wanted 0 or 1 (idle)"),
      Wrong<Verdicts>(16 + 16, std::int64_t{-2},
                      "Verdicts of worker 3: entry 0 (block 9): v_train: got -2, wanted -1 to 2^62"),
      Wrong<Verdicts>(16 + 32, std::uint8_t{0},
                      "Verdicts of worker 3: entry 0 (block 9): verdict: got 0, wanted 1-6 or 16-20"),
      Wrong<Verdicts>(16 + 32, std::uint8_t{7},
                      "Verdicts of worker 3: entry 0 (block 9): verdict: got 7, wanted 1-6 or 16-20"),
      Wrong<Verdicts>(16 + 32, std::uint8_t{15},
                      "Verdicts of worker 3: entry 0 (block 9): verdict: got 15, wanted 1-6 or 16-20"),
      Wrong<Verdicts>(16 + 32, std::uint8_t{21},
                      "Verdicts of worker 3: entry 0 (block 9): verdict: got 21, wanted 1-6 or 16-20"),
      Wrong<Verdicts>(16 + 24, std::uint32_t{2},
                      "Verdicts of worker 3: entry 0 (block 9): owner: got 2, wanted 4294967295 (nobody: the "
                      "scheduler says who has the block)"),
      Wrong<Verdicts>(
          16 + 28, std::uint32_t{2},
          "Verdicts of worker 3: entry 0 (block 9): owner_term: got 2, wanted 0 (without an owner)"),
      Wrong<Resume>(16 + 8, std::int64_t{-1},
                    "Resume of worker 3: entry 0 (block 9): next: got -1, wanted 0 to 2^62"),
      Wrong<Resumed>(16 + 16, kTooFar,
                     "Resumed of worker 3: entry 0 (block 9): v_train: got 4611686018427387905, wanted -1 to "
                     "2^62"),
      Wrong<Pull>(
          12, std::uint8_t{8},
          "Pull of worker 3: flags: got 8, wanted 0 to 7 (1: observer, 2: newest only, 4: by priority)"),
      Wrong<Pull>(24 + 8, std::int64_t{-2},
                  "Pull of worker 3: entry 0 (block 9): progress: got -2, wanted -1 to 2^62"),
      Wrong<Pull>(
          24 + 24, std::uint64_t{3},
          "Pull of worker 3: entry 0 (block 9): held_view: got 3, wanted 0 (no views in this version)"),
      Wrong<Pull>(24 + 32, std::uint32_t{0},
                  "Pull of worker 3: entry 0 (block 9): ask: got 0, wanted at least 1"),
      Wrong<Pull>(24 + 36, kNan,
                  "Pull of worker 3: entry 0 (block 9): significance: got nan, wanted a finite number"),
      Wrong<Pull>(24 + 41, std::uint8_t{1},
                  "Pull of worker 3: entry 0 (block 9): flags: got 1, wanted 0 (neither 1, at once, nor 2, "
                  "full, in this version)"),
      Wrong<Answers>(
          16 + 24, std::uint64_t{1},
          "Answers of worker 3: entry 0 (block 9): view: got 1, wanted 0 (no views in this version)"),
      Wrong<Answers>(
          16 + 32, std::uint64_t{1},
          "Answers of worker 3: entry 0 (block 9): base: got 1, wanted 0 (no views in this version)"),
      Wrong<Answers>(16 + 40, std::int64_t{-2},
                     "Answers of worker 3: entry 0 (block 9): mean: got -2, wanted -1 to 2^62"),
      Wrong<Answers>(16 + 48, std::uint32_t{0},
                     "Answers of worker 3: entry 0 (block 9): ask: got 0, wanted at least 1"),
      Wrong<Answers>(
          16 + 8, kTooFar,
          "Answers of worker 3: entry 0 (block 9): v_train: got 4611686018427387905, wanted -1 to 2^62"),
      Wrong<Answers>(16 + 64, std::uint32_t{8},
                     "Answers of worker 3: entry 0 (block 9): offset: got 8, wanted 0 (the whole block)"),
      Wrong<Answers>(16 + 72, std::uint16_t{0},
                     "Answers of worker 3: entry 0 (block 9): format: got 0, wanted 1 (float32)"),
      Wrong<Answers>(16 + 74, std::uint8_t{1},
                     "Answers of worker 3: entry 0 (block 9): content: got 1, wanted 2 (unchanged) without "
                     "payload_bytes"),
      Wrong<Answers>(16 + 74, std::uint8_t{3},
                     "Answers of worker 3: entry 0 (block 9): mean: got -1, wanted at least 0 with content 3 "
                     "(no gradient)"),
      Wrong<Answers>(
          16 + 74, std::uint8_t{4},
          "Answers of worker 3: entry 0 (block 9): content: got 4, wanted 1 (bytes), 2 (unchanged) "
          "or 3 (no gradient)"),
      Wrong<Assign>(16 + 8, std::uint64_t{0},
                    "Assign of worker 3: entry 0 (block 9): seq: got 0, wanted at least 1"),
      Wrong<Assign>(16 + 36, std::uint8_t{9},
                    "Assign of worker 3: entry 0 (block 9): array: got 9, wanted 0 to 8"),
      Wrong<Read>(12, std::uint8_t{3}, "Read of worker 3: what: got 3, wanted 1 (values) or 2 (state)"),
      Wrong<Arrays>(24 + 28, std::uint8_t{9},
                    "Arrays of worker 3: entry 0 (block 9): array: got 9, wanted 0 to 8"),
      Wrong<Arrays>(24 + 29, std::uint8_t{9},
                    "Arrays of worker 3: entry 0 (block 9): arrays: got 9, wanted 0 to 8"),
  };
  for (const WrongField& c : cases) {
    const Status status = c.decode();
    EXPECT_EQ(status.code(), StatusCode::kProtocol) << c.message;
    EXPECT_EQ(status.message(), c.message);
  }
}

TEST(MessageFieldsTest, ArraysHaveAPayloadAndTheirAbsenceHasNone) {
  const auto decoded = [](std::uint32_t payload_bytes, std::uint8_t arrays) {
    const Arrays message{
        WorkerId(3), Incarnation(1), 9, {{BlockId(9), Term(1), Version(5), 6, payload_bytes, 0, arrays}}};
    Arrays out;
    return Decode(Encoded(message), payload_bytes, out);
  };
  EXPECT_TRUE(decoded(0, 0).ok());
  EXPECT_TRUE(decoded(8, 1).ok());
  EXPECT_EQ(decoded(0, 1).message(),
            "Arrays of worker 3: entry 0 (block 9): payload_bytes: got 0, wanted some if arrays is above 0");
  EXPECT_EQ(decoded(8, 0).message(),
            "Arrays of worker 3: entry 0 (block 9): payload_bytes: got 8, wanted 0 if arrays is 0");
}

}  // namespace
}  // namespace leeway::wire
