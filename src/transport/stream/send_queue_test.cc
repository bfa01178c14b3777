#include "transport/stream/send_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "wire/frame.h"

namespace leeway {
namespace {

constexpr std::size_t kCopyBelow = 8;

std::span<const std::byte> QueueBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::vector<std::string> QueuePieces(const SendQueue& queue, std::size_t count = 64,
                                     std::size_t bytes_max = 1 << 20) {
  std::vector<iovec> pieces(count);
  pieces.resize(queue.Gather(pieces, bytes_max));
  std::vector<std::string> texts;
  for (const iovec& piece : pieces)
    texts.emplace_back(static_cast<const char*>(piece.iov_base), piece.iov_len);
  return texts;
}

std::string QueueHeader(std::uint8_t kind, std::uint32_t body, std::uint64_t payload) {
  const auto bytes = wire::EncodeHeader({.kind = kind, .body_bytes = body, .payload_bytes = payload});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(SendQueueTest, SmallFramesLeaveAsOnePiece) {
  SendQueue queue(kCopyBelow);
  const auto pin = std::make_shared<std::string>("tiny");
  queue.Push(1, QueueBytes("one"), {});
  queue.Push(2, QueueBytes("two"), std::vector<Pinned>{{QueueBytes(*pin), pin}});
  EXPECT_EQ(pin.use_count(), 1) << "a small piece is copied and its pin dropped at once";
  EXPECT_EQ(queue.frames(), 2U);
  EXPECT_EQ(QueuePieces(queue),
            std::vector<std::string>{QueueHeader(1, 3, 0) + "one" + QueueHeader(2, 3, 4) + "twotiny"});
}

TEST(SendQueueTest, LargePiecesStayWhereTheyLieUntilTheyHaveLeft) {
  SendQueue queue(kCopyBelow);
  const auto pin = std::make_shared<std::string>("a large payload");
  queue.Push(1, QueueBytes("b"), std::vector<Pinned>{{QueueBytes(*pin), pin}});
  queue.Push(2, {}, {});
  EXPECT_EQ(pin.use_count(), 2);
  EXPECT_EQ(queue.pinned_bytes(), pin->size());
  EXPECT_EQ(QueuePieces(queue),
            (std::vector<std::string>{QueueHeader(1, 1, 15) + "b", *pin, QueueHeader(2, 0, 0)}));

  queue.Consume(wire::kHeaderBytes + 1 + 14);
  EXPECT_EQ(pin.use_count(), 2) << "one byte is left";
  EXPECT_EQ(queue.frames(), 2U);
  EXPECT_EQ(QueuePieces(queue), (std::vector<std::string>{"d", QueueHeader(2, 0, 0)}));
  queue.Consume(1);
  EXPECT_EQ(pin.use_count(), 1);
  EXPECT_EQ(queue.frames(), 1U);
  EXPECT_EQ(queue.pinned_bytes(), 0U);
  queue.Consume(wire::kHeaderBytes);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.frames(), 0U);
}

TEST(SendQueueTest, GatherRespectsBothItsLimits) {
  SendQueue queue(kCopyBelow);
  const auto pin = std::make_shared<std::string>("a large payload");
  queue.Push(1, {}, std::vector<Pinned>{{QueueBytes(*pin), pin}, {QueueBytes(*pin), pin}});
  EXPECT_EQ(QueuePieces(queue, 2), (std::vector<std::string>{QueueHeader(1, 0, 30), *pin}));
  EXPECT_EQ(QueuePieces(queue, 64, wire::kHeaderBytes + 4),
            (std::vector<std::string>{QueueHeader(1, 0, 30), "a la"}));
}

TEST(SendQueueTest, ConsumesInStepsOfAnySizeWithoutLosingAByte) {
  for (std::size_t step = 1; step < 40; ++step) {
    SendQueue queue(kCopyBelow);
    const auto pin = std::make_shared<std::string>("0123456789abcdef");
    std::string want;
    for (std::uint8_t kind = 0; kind < 20; ++kind) {
      const bool large = kind % 3 == 0;
      const std::string body(kind, 'x');
      queue.Push(kind, QueueBytes(body),
                 large ? std::vector<Pinned>{{QueueBytes(*pin), pin}} : std::vector<Pinned>{});
      want += QueueHeader(kind, kind, large ? 16 : 0) + body + (large ? *pin : "");
    }
    std::string got;
    while (!queue.empty()) {
      std::string pieces;
      for (const std::string& piece : QueuePieces(queue, 3, step)) pieces += piece;
      ASSERT_FALSE(pieces.empty());
      queue.Consume(pieces.size());
      got += pieces;
    }
    EXPECT_EQ(got, want) << "step " << step;
    EXPECT_EQ(pin.use_count(), 1);
    EXPECT_EQ(queue.frames(), 0U);
  }
}

TEST(SendQueueTest, ClearDropsEveryPin) {
  SendQueue queue(kCopyBelow);
  const auto pin = std::make_shared<std::string>("a large payload");
  queue.Push(1, {}, std::vector<Pinned>{{QueueBytes(*pin), pin}});
  queue.Consume(3);
  queue.Clear();
  EXPECT_EQ(pin.use_count(), 1);
  EXPECT_TRUE(queue.empty());
  queue.Push(2, {}, {});
  EXPECT_EQ(QueuePieces(queue), std::vector<std::string>{QueueHeader(2, 0, 0)});
}

// The kinds of the frames in the order in which they leave.
std::vector<int> KindsThatLeave(SendQueue& queue, std::size_t frame_bytes) {
  std::vector<int> kinds;
  while (!queue.empty()) {
    std::array<iovec, 1> piece;
    (void)queue.Gather(piece, wire::kHeaderBytes);
    kinds.push_back(static_cast<const std::uint8_t*>(piece[0].iov_base)[2]);
    queue.Consume(frame_bytes);
  }
  return kinds;
}

TEST(SendQueueTest, FramesBeyondWhatIsCommittedLeaveByPriority) {
  SendQueue queue(kCopyBelow);
  const auto pin = std::make_shared<std::string>(SendAhead::kMost, 'x');
  const std::size_t frame_bytes = wire::kHeaderBytes + pin->size();
  const auto push = [&](std::uint8_t kind, std::uint8_t priority) {
    const BlockId block(kind);
    queue.Push(kind, {}, std::vector<Pinned>{{QueueBytes(*pin), pin}},
               {FrameOrder::Kind::kByPriority, priority, std::span(&block, 1)});
  };
  push(1, 255);  // committed at once
  push(2, 255);
  push(3, 9);
  push(4, 0);
  EXPECT_EQ(queue.frames(), 4U);
  EXPECT_EQ(queue.bytes(), 4 * frame_bytes);
  EXPECT_EQ(queue.pinned_bytes(), 4 * pin->size());
  EXPECT_EQ(KindsThatLeave(queue, frame_bytes), (std::vector<int>{1, 4, 3, 2}));
  EXPECT_EQ(pin.use_count(), 1);
  EXPECT_EQ(queue.bytes() + queue.pinned_bytes() + queue.copied_bytes() + queue.frames(), 0U);
  for (std::uint8_t kind = 1; kind < 5; ++kind) push(kind, 0);
  queue.Clear();
  EXPECT_EQ(pin.use_count(), 1);
  EXPECT_EQ(queue.bytes() + queue.pinned_bytes() + queue.copied_bytes() + queue.frames(), 0U);
}

TEST(SendQueueTest, AFrameInOrderStaysBehindThoseThatWait) {
  SendQueue queue(kCopyBelow);
  const std::string body(2 * SendAhead::kMost, 'x');
  queue.Push(1, QueueBytes(body), {}, {FrameOrder::Kind::kByPriority, 3, {}});
  queue.Push(2, QueueBytes(body), {}, {FrameOrder::Kind::kByPriority, 3, {}});
  queue.Push(3, QueueBytes(body), {});
  queue.Push(4, QueueBytes(body), {}, {FrameOrder::Kind::kControl, 0, {}});
  EXPECT_EQ(KindsThatLeave(queue, wire::kHeaderBytes + body.size()), (std::vector<int>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace leeway
