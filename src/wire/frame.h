// Frames on the wire: a fixed header, a small body, a raw payload.
//
//   offset 0  u16 magic 0x574C ("LW")   2  u8 kind   3  u8 zero   4  u32 body_bytes   8  u64 payload_bytes    (16 bytes)
//
// All little-endian. FrameReader is the one decoder of both worlds: the TCP transport receives straight into the spans
// it hands out, the simulated transport copies its chunks, cut anywhere, into them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "leeway/status.h"
#include "leeway/transport.h"

namespace leeway::wire {

inline constexpr std::uint16_t kMagic = 0x574C;
inline constexpr std::size_t kHeaderBytes = 16;

[[nodiscard]] std::array<std::byte, kHeaderBytes> EncodeHeader(const FrameHead& head);
// Checks magic, the zero byte and the limits.
[[nodiscard]] Result<FrameHead> DecodeHeader(std::span<const std::byte, kHeaderBytes> bytes, const FrameLimits& limits);

// What a FrameReader reports, in the order of the bytes. Mirrors TransportEvents, less the connection.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) = 0;
  virtual void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing landing) = 0;
  // Asked after every frame: false stops the reader (the connection was closed from inside OnFrame).
  [[nodiscard]] virtual bool KeepReading() const = 0;
};

// Turns a stream of bytes into frames. Small frames are parsed, many at a time, out of a staging buffer; the rest of a
// large payload is received straight into its landing. Lives and dies with its connection.
class FrameReader {
 public:
  explicit FrameReader(FrameSink& sink, std::size_t staging_bytes = 256 * 1024);

  void SetLimits(const FrameLimits& limits) { limits_ = limits; }
  // Where the next received bytes go; never empty. Valid until Commit.
  [[nodiscard]] std::span<std::byte> Space();
  // `n` bytes were written into Space(). Calls the sink for every frame that is now whole. An error (bad header, over a
  // limit, no landing, a landing of the wrong size) is final.
  [[nodiscard]] Status Commit(std::size_t n);
  // True between frames: nothing is half read.
  [[nodiscard]] bool AtBoundary() const;

 private:
  // Consumes staged bytes until a frame is incomplete.
  [[nodiscard]] Status Parse();
  [[nodiscard]] Status FinishFrame();

  FrameSink& sink_;
  FrameLimits limits_;
  std::vector<std::byte> staging_;
  std::size_t begin_ = 0, end_ = 0;  // unparsed bytes of staging_
  enum class State : std::uint8_t { kHeader, kBody, kPayload } state_ = State::kHeader;
  FrameHead head_;
  std::vector<std::byte> body_;
  Landing landing_;
  std::size_t place_ = 0, place_filled_ = 0;
};

}  // namespace leeway::wire
