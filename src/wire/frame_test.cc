#include "wire/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "wire/kind.h"

namespace leeway::wire {
namespace {

using Bytes = std::vector<std::byte>;

constexpr FrameLimits kWide{16U << 20, 64ULL << 20};

struct TestFrame {
  std::uint8_t kind = 0;
  Bytes body;
  Bytes payload;
  friend bool operator==(const TestFrame&, const TestFrame&) = default;
};

Bytes RandomBytes(std::mt19937_64& random, std::size_t n) {
  Bytes bytes(n);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

TestFrame RandomFrame(std::mt19937_64& random, std::size_t body_bytes, std::size_t payload_bytes) {
  return {static_cast<std::uint8_t>(random()), RandomBytes(random, body_bytes),
          RandomBytes(random, payload_bytes)};
}

void AppendFrame(const TestFrame& frame, Bytes& stream) {
  const auto header =
      EncodeHeader({frame.kind, static_cast<std::uint32_t>(frame.body.size()), frame.payload.size()});
  stream.insert(stream.end(), header.begin(), header.end());
  stream.insert(stream.end(), frame.body.begin(), frame.body.end());
  stream.insert(stream.end(), frame.payload.begin(), frame.payload.end());
}

Bytes StreamOf(const std::vector<TestFrame>& frames) {
  Bytes stream;
  for (const TestFrame& frame : frames) AppendFrame(frame, stream);
  return stream;
}

// Keeps every frame; lands payloads in places of the sizes that `cut` says.
class KeepingSink final : public FrameSink {
 public:
  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) override {
    ++starts;
    body_at_start = Bytes(body.begin(), body.end());
    if (!refusal.ok()) return refusal;
    const auto buffer = std::make_shared<Bytes>(head.payload_bytes + extra_bytes);
    Landing landing;
    landing.lease = buffer;
    lease = buffer;
    std::span<std::byte> rest(*buffer);
    while (!rest.empty()) {
      const std::size_t n = std::min(rest.size(), cut ? cut() : rest.size());
      landing.places.push_back(rest.first(n));
      rest = rest.subspan(n);
    }
    keep_reading = keep_reading && !stop_at_start;
    return landing;
  }

  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) override {
    TestFrame frame{head.kind, Bytes(body.begin(), body.end()), {}};
    for (const auto place : landing.places)
      frame.payload.insert(frame.payload.end(), place.begin(), place.end());
    EXPECT_EQ(head.body_bytes, body.size());
    EXPECT_EQ(head.payload_bytes, frame.payload.size());
    if (head.payload_bytes > 0) {
      EXPECT_EQ(body_at_start, frame.body) << "the body changed between the start and the whole";
      EXPECT_EQ(landing.lease, lease.lock());
    }
    body_data = body.data();
    frames.push_back(std::move(frame));
    if (on_frame) on_frame();
    keep_reading = keep_reading && frames.size() != stop_after;
  }

  [[nodiscard]] bool KeepReading() const override { return keep_reading; }

  std::function<std::size_t()> cut;
  std::function<void()> on_frame;
  Status refusal;
  std::size_t extra_bytes = 0;
  std::size_t stop_after = 0;
  bool stop_at_start = false;

  std::vector<TestFrame> frames;
  std::size_t starts = 0;
  std::weak_ptr<Bytes> lease;
  const std::byte* body_data = nullptr;
  bool keep_reading = true;

 private:
  Bytes body_at_start;
};

// Writes `bytes` into the reader's spaces as they come.
Status Feed(FrameReader& reader, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> space = reader.Space();
    EXPECT_FALSE(space.empty());
    if (space.empty()) return Internal("no space");
    const std::size_t n = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), n, space.begin());
    LW_RETURN_IF_ERROR(reader.Commit(n));
    bytes = bytes.subspan(n);
  }
  return Status::Ok();
}

TEST(FrameHeaderTest, TheBytesAreAsDocumented) {
  const auto header = EncodeHeader({33, 0x01020304, 0x05060708090A0B0CULL});
  const std::array<int, kHeaderBytes> wanted = {0x4C, 0x57, 33,   0, 4, 3, 2, 1,
                                                0x0C, 0x0B, 0x0A, 9, 8, 7, 6, 5};
  for (std::size_t i = 0; i < kHeaderBytes; ++i) EXPECT_EQ(std::to_integer<int>(header[i]), wanted[i]) << i;
}

TEST(FrameHeaderTest, RoundTripsWithinTheLimits) {
  const Result<FrameHead> head = DecodeHeader(EncodeHeader({7, 100, 200}), {100, 200});
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->kind, 7);
  EXPECT_EQ(head->body_bytes, 100U);
  EXPECT_EQ(head->payload_bytes, 200U);
}

TEST(FrameHeaderTest, HostileHeadersAreRefusedWithWhatWasWanted) {
  const auto message = [](const std::array<std::byte, kHeaderBytes>& header) {
    const Result<FrameHead> head = DecodeHeader(header, {100, 200});
    EXPECT_EQ(head.status().code(), StatusCode::kProtocol);
    return head.status().message();
  };
  auto http = EncodeHeader({});
  std::memcpy(http.data(), "GET / HTTP/1.1\r\n", http.size());
  EXPECT_EQ(message(http), "frame header: got magic 0x4547, wanted 0x574C");

  auto odd = EncodeHeader({33, 1, 1});
  odd[3] = std::byte{9};
  EXPECT_EQ(message(odd), "Push header: got 9 in byte 3, wanted 0 (no memory is shared on this connection)");
  EXPECT_EQ(message(EncodeHeader({33, 101, 0})), "Push header: got a body of 101 bytes, wanted at most 100");
  EXPECT_EQ(message(EncodeHeader({77, 0, 201})),
            "kind 77 header: got a payload of 201 bytes, wanted at most 200");
  EXPECT_FALSE(DecodeHeader(EncodeHeader({1, std::numeric_limits<std::uint32_t>::max(), 0}), kWide).ok());
  EXPECT_FALSE(DecodeHeader(EncodeHeader({1, 0, std::numeric_limits<std::uint64_t>::max()}), kWide).ok());
}

TEST(FrameHeaderTest, EveryReaderTakesTheCarriersThatMayComeItsWay) {
  using Carriers = FrameLimits::Carriers;
  const auto takes = [](Carriers carriers) {
    std::string taken;
    for (std::uint8_t carrier = 0; carrier <= 3; ++carrier) {
      const FrameHead head{.kind = 33, .body_bytes = 0, .payload_bytes = 0, .carrier = carrier};
      taken += DecodeHeader(EncodeHeader(head), {.carriers = carriers}).ok() ? std::to_string(carrier) : "";
    }
    return taken;
  };
  EXPECT_EQ(takes(Carriers::kStream), "0");
  EXPECT_EQ(takes(Carriers::kStreamAndShared), "01");
  EXPECT_EQ(takes(Carriers::kAll), "012");
  EXPECT_EQ(takes(Carriers::kNotes), "2");
}

TEST(FrameReaderTest, AStreamCutAtAnyTwoBytesGivesTheSameFrames) {
  std::mt19937_64 random(1);
  std::vector<TestFrame> frames;
  for (const auto& [body, payload] :
       {std::pair{0, 0}, {5, 0}, {0, 7}, {9, 11}, {0, 0}, {40, 1}, {1, 40}, {3, 0}, {20, 20}}) {
    frames.push_back(RandomFrame(random, body, payload));
  }
  const Bytes stream = StreamOf(frames);
  const std::span<const std::byte> all(stream);
  for (const std::size_t staging : {16, 32, 64, 4096}) {
    for (std::size_t i = 0; i <= stream.size(); ++i) {
      for (std::size_t j = i; j <= stream.size(); j += staging == 32 ? 1 : 7) {
        KeepingSink sink;
        sink.cut = [] { return std::size_t{3}; };
        FrameReader reader(sink, staging);
        reader.SetLimits(kWide);
        ASSERT_TRUE(Feed(reader, all.first(i)).ok());
        ASSERT_TRUE(Feed(reader, all.subspan(i, j - i)).ok());
        ASSERT_TRUE(Feed(reader, all.subspan(j)).ok());
        ASSERT_EQ(sink.frames, frames) << "cut at " << i << " and " << j << ", staging " << staging;
        ASSERT_TRUE(reader.AtBoundary());
      }
    }
  }
}

TEST(FrameReaderTest, RandomFramesInRandomChunksIntoRandomPlaces) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::vector<TestFrame> frames(1 + below(12));
    for (TestFrame& frame : frames) {
      const std::size_t body_max = below(8) == 0 ? 20'000 : 100;
      const std::size_t payload_max = below(3) == 0 ? 150'000 : 300;
      frame = RandomFrame(random, below(2) * below(body_max), below(2) * below(payload_max));
    }
    KeepingSink sink;
    const std::size_t place_max = below(2) == 0 ? 64 : 60'000;
    sink.cut = [&] { return below(place_max); };  // empty places too
    FrameReader reader(sink, std::size_t{1} << (4 + below(14)));
    reader.SetLimits(kWide);
    const Bytes stream = StreamOf(frames);
    std::span<const std::byte> rest(stream);
    const std::size_t chunk_max = below(2) == 0 ? 50 : 70'000;
    while (!rest.empty()) {
      const std::size_t n = std::min(rest.size(), below(chunk_max));
      ASSERT_TRUE(Feed(reader, rest.first(n)).ok());
      rest = rest.subspan(n);
    }
    ASSERT_EQ(sink.frames, frames) << "seed " << seed;
    ASSERT_TRUE(reader.AtBoundary()) << "seed " << seed;
  }
}

TEST(FrameReaderTest, IsAtABoundaryOnlyBetweenFrames) {
  std::mt19937_64 random(3);
  const Bytes stream = StreamOf({RandomFrame(random, 4, 5), RandomFrame(random, 0, 0)});
  KeepingSink sink;
  FrameReader reader(sink);
  reader.SetLimits(kWide);
  EXPECT_TRUE(reader.AtBoundary());
  for (std::size_t i = 0; i < stream.size(); ++i) {
    ASSERT_TRUE(Feed(reader, std::span(stream).subspan(i, 1)).ok());
    EXPECT_EQ(reader.AtBoundary(), i + 1 == kHeaderBytes + 9 || i + 1 == stream.size()) << i;
  }
}

TEST(FrameReaderTest, ManySmallFramesComeOutOfOneReceiveWithoutACopy) {
  std::mt19937_64 random(4);
  const std::vector<TestFrame> frames(20, RandomFrame(random, 30, 16));
  const Bytes stream = StreamOf(frames);
  KeepingSink sink;
  FrameReader reader(sink);
  reader.SetLimits(kWide);
  const std::span<std::byte> space = reader.Space();
  ASSERT_GE(space.size(), stream.size());
  std::copy(stream.begin(), stream.end(), space.begin());
  ASSERT_TRUE(reader.Commit(stream.size()).ok());
  EXPECT_EQ(sink.frames, frames);
  EXPECT_GE(sink.body_data, space.data());
  EXPECT_LT(sink.body_data, space.data() + space.size());
}

TEST(FrameReaderTest, AStreamOfSmallFramesIsOfferedMoreAndMoreSpace) {
  std::mt19937_64 random(5);
  const Bytes stream = StreamOf(std::vector<TestFrame>(20'000, RandomFrame(random, 40, 0)));
  KeepingSink sink;
  FrameReader reader(sink);
  std::span<const std::byte> rest(stream);
  std::size_t receives = 0;
  for (; !rest.empty(); ++receives) {
    const std::size_t n = std::min(reader.Space().size(), rest.size());
    ASSERT_TRUE(Feed(reader, rest.first(n)).ok());
    rest = rest.subspan(n);
  }
  EXPECT_EQ(sink.frames.size(), 20'000U);
  EXPECT_LE(receives, 14U) << "1.1 MB in receives of up to 256 KiB";
}

TEST(FrameReaderTest, LargePayloadsAreReceivedInPlace) {
  std::mt19937_64 random(6);
  constexpr std::size_t kPayload = 1 << 20;
  const std::vector<TestFrame> frames(4, RandomFrame(random, 90, kPayload));
  const Bytes stream = StreamOf(frames);
  KeepingSink sink;
  FrameReader reader(sink);
  reader.SetLimits(kWide);
  std::span<const std::byte> rest(stream);
  std::size_t direct_bytes = 0;
  while (!rest.empty()) {
    const std::span<std::byte> space = reader.Space();
    const std::size_t n = std::min(space.size(), rest.size());
    const std::shared_ptr<Bytes> buffer = sink.lease.lock();
    if (buffer && space.data() >= buffer->data() && space.data() < buffer->data() + kPayload)
      direct_bytes += n;
    std::copy_n(rest.begin(), n, space.begin());
    ASSERT_TRUE(reader.Commit(n).ok());
    rest = rest.subspan(n);
  }
  EXPECT_EQ(sink.frames, frames);
  EXPECT_GE(direct_bytes, 4 * (kPayload - 4096)) << "at most a small window of each payload is copied";
}

TEST(FrameReaderTest, ABodyLargerThanStagingArrivesWhole) {
  std::mt19937_64 random(7);
  const std::vector<TestFrame> frames = {RandomFrame(random, 100'000, 0), RandomFrame(random, 50'000, 9),
                                         RandomFrame(random, 1024, 0), RandomFrame(random, 1025, 3)};
  KeepingSink sink;
  FrameReader reader(sink, 1024);
  reader.SetLimits(kWide);
  ASSERT_TRUE(Feed(reader, StreamOf(frames)).ok());
  EXPECT_EQ(sink.frames, frames);
}

// A reader may hold this beside twice the bytes that have come: its first staging and the first piece of a
// body.
constexpr std::size_t kReaderBytes = 4 * 1024 + 16 * 1024;

TEST(FrameReaderTest, AHeaderTakesNoMemoryForTheBodyThatItAnnounces) {
  for (const std::uint32_t announced : {60'000U, 70'000U, 16U << 20}) {
    KeepingSink sink;
    FrameReader reader(sink, 64 * 1024);
    reader.SetLimits({16U << 20, 0});
    EXPECT_LE(reader.memory_bytes(), 4096U) << "a connection that has said nothing";
    const auto header = EncodeHeader({33, announced, 0});
    ASSERT_TRUE(Feed(reader, header).ok());
    ASSERT_TRUE(Feed(reader, Bytes(41)).ok());
    EXPECT_LE(reader.memory_bytes(), kReaderBytes) << "57 bytes announce " << announced;
    EXPECT_TRUE(sink.frames.empty());
  }
}

TEST(FrameReaderTest, TheMemoryOfABodyIsAtMostTwiceWhatHasComeOfIt) {
  std::mt19937_64 random(8);
  const TestFrame frame = RandomFrame(random, 5 << 20, 0);
  const Bytes stream = StreamOf({frame});
  KeepingSink sink;
  FrameReader reader(sink, 64 * 1024);
  reader.SetLimits({16U << 20, 0});
  std::size_t sent = 0;
  std::set<std::size_t> sizes;
  while (sent < stream.size()) {
    const std::size_t n = std::min<std::size_t>(1000, stream.size() - sent);
    ASSERT_TRUE(Feed(reader, std::span(stream).subspan(sent, n)).ok());
    sent += n;
    ASSERT_LE(reader.memory_bytes(), kReaderBytes + 2 * sent) << "after " << sent << " bytes";
    sizes.insert(reader.memory_bytes());
  }
  EXPECT_LE(sizes.size(), 12U) << "it doubles, and does not creep";
  ASSERT_EQ(sink.frames.size(), 1U);
  EXPECT_EQ(sink.frames[0], frame);
}

TEST(FrameReaderTest, StagingGrowsOnlyWhileReceivesFillIt) {
  const Bytes small = StreamOf({{7, Bytes(40), {}}});
  KeepingSink sink;
  FrameReader reader(sink, 64 * 1024);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Feed(reader, small).ok());
  EXPECT_LE(reader.memory_bytes(), 4096U) << "one frame at a time";
  Bytes many;
  for (int i = 0; i < 20'000; ++i) many.insert(many.end(), small.begin(), small.end());
  ASSERT_TRUE(Feed(reader, many).ok());
  EXPECT_GE(reader.memory_bytes(), 64U * 1024) << "a stream of them";
  EXPECT_LE(reader.memory_bytes(), 2 * 64U * 1024);
}

TEST(FrameReaderTest, AHugeBodyDoesNotStayOnceASmallFrameHasCome) {
  KeepingSink sink;
  FrameReader reader(sink, 64 * 1024);
  reader.SetLimits({16U << 20, 0});
  ASSERT_TRUE(Feed(reader, StreamOf({{7, Bytes(8 << 20), {}}})).ok());
  ASSERT_TRUE(Feed(reader, StreamOf({{7, Bytes(8), {}}})).ok());
  EXPECT_EQ(sink.frames.size(), 2U);
  EXPECT_LE(reader.memory_bytes(), 2 * 64U * 1024);
}

TEST(FrameReaderTest, TheFirstLimitsAreThoseBeforeTheHello) {
  KeepingSink sink;
  FrameReader reader(sink);
  EXPECT_TRUE(Feed(reader, StreamOf({{1, Bytes(4096), {}}})).ok());
  const Status status = Feed(reader, StreamOf({{33, {}, Bytes(1)}}));
  EXPECT_EQ(status.code(), StatusCode::kProtocol);
  EXPECT_EQ(sink.starts, 0U) << "nobody is asked for a landing beyond a limit";
}

TEST(FrameReaderTest, LimitsSetInsideAFrameHoldFromTheNextHeaderOn) {
  const Bytes stream = StreamOf({{1, Bytes(10), {}}, {33, Bytes(10), Bytes(8)}, {33, Bytes(10), Bytes(8)}});
  KeepingSink sink;
  FrameReader reader(sink);
  sink.on_frame = [&] { reader.SetLimits(sink.frames.size() == 1 ? kWide : FrameLimits{10, 7}); };
  const Status status = Feed(reader, stream);
  EXPECT_EQ(status.message(), "Push header: got a payload of 8 bytes, wanted at most 7");
  EXPECT_EQ(sink.frames.size(), 2U);
}

TEST(FrameReaderTest, AnErrorIsFinal) {
  KeepingSink sink;
  FrameReader reader(sink);
  Bytes stream = StreamOf({{1, Bytes(3), {}}, {2, Bytes(3), {}}, {3, Bytes(3), {}}});
  stream[kHeaderBytes + 3] = std::byte{0};  // the second magic
  const Status status = Feed(reader, stream);
  EXPECT_EQ(status.code(), StatusCode::kProtocol);
  EXPECT_EQ(Feed(reader, StreamOf({{4, {}, {}}})).message(), status.message());
  EXPECT_EQ(sink.frames.size(), 1U);
}

TEST(FrameReaderTest, ALandingOfTheWrongSizeIsRefused) {
  KeepingSink sink;
  sink.extra_bytes = 1;
  FrameReader reader(sink);
  reader.SetLimits(kWide);
  EXPECT_EQ(Feed(reader, StreamOf({{33, Bytes(3), Bytes(8)}})).message(),
            "Push frame: got a landing of 9 bytes in 1 places, wanted 8 bytes");
  EXPECT_TRUE(sink.frames.empty());
  EXPECT_TRUE(sink.lease.expired());
}

TEST(FrameReaderTest, ARefusedLandingEndsTheStream) {
  KeepingSink sink;
  sink.refusal = NotFound("no block 7");
  FrameReader reader(sink);
  reader.SetLimits(kWide);
  EXPECT_EQ(Feed(reader, StreamOf({{33, Bytes(3), Bytes(8)}})).code(), StatusCode::kNotFound);
  EXPECT_TRUE(sink.frames.empty());
}

TEST(FrameReaderTest, AHalfFilledLandingIsDroppedAndNeverShown) {
  KeepingSink sink;
  const Bytes stream = StreamOf({{33, Bytes(3), Bytes(100'000)}});
  {
    FrameReader reader(sink);
    reader.SetLimits(kWide);
    ASSERT_TRUE(Feed(reader, std::span(stream).first(stream.size() - 1)).ok());
    EXPECT_FALSE(sink.lease.expired());
  }
  EXPECT_TRUE(sink.lease.expired());
  EXPECT_TRUE(sink.frames.empty());
}

TEST(FrameReaderTest, StopsAtOnceWhenTheConnectionWasClosedInsideAFrame) {
  KeepingSink sink;
  sink.stop_after = 2;
  FrameReader reader(sink);
  EXPECT_TRUE(Feed(reader, StreamOf(std::vector<TestFrame>(5, {1, Bytes(3), {}}))).ok());
  EXPECT_EQ(sink.frames.size(), 2U);
  EXPECT_TRUE(Feed(reader, StreamOf({{1, Bytes(3), {}}})).ok());
  EXPECT_EQ(sink.frames.size(), 2U) << "a stopped reader ignores what still comes";
}

TEST(FrameReaderTest, StopsWhenTheConnectionWasClosedInsideAFrameStart) {
  KeepingSink sink;
  sink.stop_at_start = true;
  FrameReader reader(sink);
  reader.SetLimits(kWide);
  EXPECT_TRUE(Feed(reader, StreamOf({{33, Bytes(3), Bytes(8)}})).ok());
  EXPECT_TRUE(sink.frames.empty());
  EXPECT_TRUE(sink.lease.expired());
}

TEST(FrameReaderTest, RandomBytesNeverCrash) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    Bytes stream =
        StreamOf({RandomFrame(random, 10, 20), RandomFrame(random, 50, 0), RandomFrame(random, 0, 90)});
    for (int flips = 0; flips < 3; ++flips)
      stream[random() % stream.size()] ^= static_cast<std::byte>(random());
    KeepingSink sink;
    FrameReader reader(sink, 64);
    reader.SetLimits({1000, 1000});
    const Status status = Feed(reader, stream);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kProtocol) << status.ToString();
    EXPECT_LE(sink.frames.size(), 13U);
  }
}

}  // namespace
}  // namespace leeway::wire
