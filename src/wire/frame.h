// Frames on the wire: a fixed header, a small body, a raw payload.
//
//   offset 0  u16 magic 0x574C ("LW")   2  u8 kind   3  u8 carrier   4  u32 body_bytes   8  u64 payload_bytes
//   (16 bytes)
//
// All little-endian. FrameReader is the one decoder of both worlds: the transport over sockets receives
// straight into the spans it hands out, the simulated transport copies its chunks, cut anywhere, into them.
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
// How the payload of a frame travels: in the stream, after the body, or in memory that both ends see, with a
// trailer of the body that says where. A note is no frame: it is of the carrier, between its two ends.
inline constexpr std::uint8_t kInStream = 0;
inline constexpr std::uint8_t kShared = 1;
inline constexpr std::uint8_t kNote = 2;
// The bytes that a trailer, or a note, may have beyond the limit of bodies.
inline constexpr std::uint32_t kCarrierBytesMax = 2U << 20;
inline constexpr std::size_t kHeaderBytes = 16;

[[nodiscard]] std::array<std::byte, kHeaderBytes> EncodeHeader(const FrameHead& head);
// Checks magic, carrier and the limits.
[[nodiscard]] Result<FrameHead> DecodeHeader(std::span<const std::byte, kHeaderBytes> bytes,
                                             const FrameLimits& limits);

// The events of a FrameReader, in the order of the bytes. They mirror TransportEvents, less the connection.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) = 0;
  virtual void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) = 0;
  // A whole header and body whose carrier is not kInStream. It comes only where the limits allow it. This
  // default, an error, is good enough where they never do.
  virtual Status OnCarried(const FrameHead& head, std::span<const std::byte> body);
  // Asked after every frame and frame start: false stops the reader (the connection was closed from inside
  // it).
  [[nodiscard]] virtual bool KeepReading() const = 0;
};

// Turns a stream of bytes into frames. Small frames are parsed, many at a time, out of a staging buffer; the
// rest of a large payload is received straight into its landing. Lives and dies with its connection.
//
// Memory follows the bytes that have come, never the sizes that a header announces. The staging buffer starts
// at 4 KiB and doubles only after a receive has filled all that was offered; the buffer of a large body
// starts at 16 KiB and doubles when it is full.
class FrameReader {
 public:
  // The staging buffer has at most `staging_bytes_max` bytes.
  explicit FrameReader(FrameSink& sink, std::size_t staging_bytes_max = 256 * 1024);

  void SetLimits(const FrameLimits& limits) { limits_ = limits; }
  // Where the next received bytes go; never empty. Valid until Commit.
  [[nodiscard]] std::span<std::byte> Space();
  // `n` bytes were written into Space(). Calls the sink for every frame that is now whole. An error (bad
  // header, over a limit, no memory, no landing, a landing of the wrong size) is final. Bytes after an error
  // or a stop are ignored.
  [[nodiscard]] Status Commit(std::size_t n);
  // True between frames: nothing is half read.
  [[nodiscard]] bool AtBoundary() const;
  // Bytes that the reader itself has allocated; landings belong to the sink.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  enum class State : std::uint8_t { kHeader, kBody, kPayload };
  enum class Into : std::uint8_t { kStaging, kBody, kPlace };

  // A body that staging can hold, if need be after it has grown, is read where it is staged; a larger one has
  // body_ to itself.
  [[nodiscard]] bool BodyFitsStaging() const { return head_.body_bytes <= staging_bytes_max_; }
  [[nodiscard]] std::span<std::byte> StagingSpace();
  // The rest of the place being filled. REQUIRES: place_ < landing_.places.size().
  [[nodiscard]] std::span<std::byte> PlaceSpace() const;
  // Consumes staged bytes until a frame is incomplete.
  [[nodiscard]] Status Parse();
  // Takes staged bytes of a body that has body_ to itself, and makes room for more of it.
  [[nodiscard]] Status TakeLargeBody(std::span<const std::byte> staged);
  // Makes body_ at least so large. An error if there is no memory.
  [[nodiscard]] Status GrowBody(std::size_t bytes);
  [[nodiscard]] Status StartPayload();
  // `n` bytes of the current place were written; goes on to the next place that has room.
  void FillPlaces(std::size_t n);
  // Returns how many of the staged bytes belong to this payload.
  [[nodiscard]] std::size_t CopyToPlaces(std::span<const std::byte> staged);
  // Whether the payload is small and staged whole.
  [[nodiscard]] bool IsReadable() const;
  void ReadInPlace();
  void FinishFrame();
  void EndFrame();
  void Abandon();

  FrameSink& sink_;
  FrameLimits limits_;
  const std::size_t staging_bytes_max_;
  std::vector<std::byte> staging_;   // grows up to staging_bytes_max_
  std::size_t begin_ = 0, end_ = 0;  // unparsed bytes of staging_
  std::size_t window_;               // how much is offered at a time; doubles while it comes back full
  Into into_ = Into::kStaging;       // what Space() last handed out
  std::size_t offered_ = 0;
  State state_ = State::kHeader;
  bool stopped_ = false;
  Status error_;
  FrameHead head_;
  std::span<const std::byte> body_view_;  // the body of the frame being read, in staging_ or in body_
  std::vector<std::byte> body_;  // begins with a body that staging cannot hold, or cannot hold any longer
  std::size_t body_filled_ = 0;
  Landing landing_;
  std::size_t place_ = 0, place_filled_ = 0;
  std::vector<std::uint64_t> aligned_;  // a staged payload that is read in place and did not lie well
};

}  // namespace leeway::wire
