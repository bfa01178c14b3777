#include "sim/pipe.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "wire/frame.h"

namespace leeway::sim {
namespace {

std::span<const std::byte> AsBytes(const std::string& text) { return std::as_bytes(std::span(text)); }

void QueueText(Pipe& pipe, const std::string& body, bool verdict = false) {
  pipe.Queue({.kind = 7, .body_bytes = static_cast<std::uint32_t>(body.size()), .payload_bytes = 0},
             AsBytes(body), {}, verdict);
}

// Collects the bodies of whole frames.
class BodySink final : public wire::FrameSink {
 public:
  Result<Landing> OnFrameStart(const FrameHead&, std::span<const std::byte>) override { return Landing{}; }
  void OnFrame(const FrameHead&, std::span<const std::byte> body, Landing&&) override {
    bodies += std::string(reinterpret_cast<const char*>(body.data()), body.size()) + ".";
  }
  [[nodiscard]] bool KeepReading() const override { return true; }
  std::string bodies;
};

TEST(PipeTest, PayloadIsReadWhenItLeavesAndItsPinIsDroppedThen) {
  std::string payload = "0123456789";
  auto pin = std::make_shared<int>(1);
  Pipe pipe;
  const Pinned pinned{AsBytes(payload), pin};
  pipe.Queue({.kind = 7, .body_bytes = 0, .payload_bytes = 10}, {}, {&pinned, 1}, false);
  EXPECT_EQ(pipe.bytes_queued(), wire::kHeaderBytes + 10);
  EXPECT_EQ(pin.use_count(), 3) << "held by this test twice, and by the queue";
  EXPECT_EQ(pipe.Leave(wire::kHeaderBytes + 4).size(), wire::kHeaderBytes + 4);
  payload[4] = 'x';
  EXPECT_EQ(pin.use_count(), 3) << "half of it is still here";
  const std::vector<std::byte> rest = pipe.Leave(100);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(rest.data()), rest.size()), "x56789");
  EXPECT_EQ(pin.use_count(), 2);
  EXPECT_EQ(pipe.bytes_queued(), 0U);
}

TEST(PipeTest, APinThatQueuesMoreWhenItIsDroppedFindsTheQueueInOrder) {
  Pipe pipe;
  const std::string payload = "abc";
  Pinned pinned{AsBytes(payload),
                std::shared_ptr<const void>(&pipe, [&](const void*) { QueueText(pipe, "more"); })};
  pipe.Queue({.kind = 7, .body_bytes = 0, .payload_bytes = 3}, {}, {&pinned, 1}, false);
  pinned.pin.reset();
  EXPECT_EQ(pipe.Leave(1000).size(), wire::kHeaderBytes + 3);
  EXPECT_EQ(pipe.bytes_queued(), wire::kHeaderBytes + 4);
}

TEST(PipeTest, FramesThatHaveNotBegunToLeaveDoSoByPriority) {
  Pipe pipe;
  const auto queue = [&pipe](const std::string& body, std::uint8_t priority) {
    pipe.Queue({.kind = 7, .body_bytes = static_cast<std::uint32_t>(body.size()), .payload_bytes = 0},
               AsBytes(body), {}, body == "c", {FrameOrder::Kind::kByPriority, priority, {}});
  };
  queue("a", 9);
  std::vector<std::byte> bytes = pipe.Leave(3);  // of "a"
  queue("b", 9);
  queue("c", 0);
  EXPECT_TRUE(pipe.VerdictUnderWay());
  for (const std::byte byte : pipe.Leave(1000)) bytes.push_back(byte);
  const std::size_t frame = wire::kHeaderBytes + 1;
  ASSERT_EQ(bytes.size(), 3 * frame);
  std::string bodies;
  for (std::size_t i = 1; i <= 3; ++i) bodies += static_cast<char>(bytes[i * frame - 1]);
  EXPECT_EQ(bodies, "acb");
  pipe.Fly(
      {Chunk::Kind::kBytes, {}, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(2 * frame)}});
  (void)pipe.Land();
  EXPECT_FALSE(pipe.VerdictUnderWay()) << "the marked frame has arrived, second of three";
}

TEST(PipeTest, ChunksStayInOrderWhateverTheirLatency) {
  Pipe pipe;
  pipe.Fly({Chunk::Kind::kBytes, Duration(100), std::vector<std::byte>(1)});
  pipe.Fly({Chunk::Kind::kBytes, Duration(50), std::vector<std::byte>(2)});
  EXPECT_EQ(pipe.Land().bytes.size(), 1U);
  EXPECT_EQ(pipe.next_arrival(), Duration(100));
}

TEST(PipeTest, ATearAtAnyByteDeliversThePrefixOfWholeFramesAndNothingElse) {
  const std::string words[] = {"one", "", "three", "four"};
  std::uint64_t total = 0;
  for (const std::string& word : words) total += wire::kHeaderBytes + word.size();
  for (std::uint64_t keep = 0; keep <= total; ++keep) {
    Pipe pipe;
    for (const std::string& word : words) QueueText(pipe, word);
    while (pipe.bytes_queued() > 0) pipe.Fly({Chunk::Kind::kBytes, Duration(1), pipe.Leave(11)});
    pipe.Tear(keep);
    QueueText(pipe, "late");
    pipe.Fly({Chunk::Kind::kBytes, Duration(1), pipe.Leave(1000)});
    pipe.Fly({Chunk::Kind::kReset, Duration(2), {}});

    BodySink sink;
    wire::FrameReader reader(sink, 64);
    std::uint64_t arrived = 0;
    while (pipe.next_arrival() < Duration(2)) {
      const Chunk chunk = pipe.Land();
      arrived += chunk.bytes.size();
      for (const std::byte byte : chunk.bytes) {
        reader.Space()[0] = byte;
        ASSERT_TRUE(reader.Commit(1).ok());
      }
      if (!pipe.flying()) break;
    }
    EXPECT_EQ(arrived, keep);
    std::string whole;
    std::uint64_t end = 0;
    bool boundary = keep == 0;
    for (const std::string& word : words) {
      end += wire::kHeaderBytes + word.size();
      if (end <= keep) whole += word + ".";
      boundary = boundary || end == keep;
    }
    EXPECT_EQ(sink.bodies, whole) << "kept " << keep;
    EXPECT_EQ(reader.AtBoundary(), boundary) << "kept " << keep;
    EXPECT_EQ(pipe.Land().kind, Chunk::Kind::kReset);
  }
}

TEST(PipeTest, AVerdictIsUnderWayUntilItsLastByteHasArrived) {
  Pipe pipe;
  QueueText(pipe, "pull");
  QueueText(pipe, "verdict", true);
  EXPECT_TRUE(pipe.VerdictUnderWay());
  const std::size_t total = pipe.bytes_queued();
  pipe.Fly({Chunk::Kind::kBytes, Duration(1), pipe.Leave(total - 1)});
  pipe.Fly({Chunk::Kind::kBytes, Duration(1), pipe.Leave(1)});
  (void)pipe.Land();
  EXPECT_TRUE(pipe.VerdictUnderWay());
  (void)pipe.Land();
  EXPECT_FALSE(pipe.VerdictUnderWay());
}

}  // namespace
}  // namespace leeway::sim
