#include "wire/frame.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "wire/kind.h"

namespace leeway::wire {
namespace {

// Below this many bytes a receive into staging and a copy cost less than a receive call of their own.
constexpr std::size_t kDirectBytesMin = 16 * 1024;
// The largest payload that is read where it is staged. A larger one is worth a receive into its own place.
constexpr std::size_t kInPlaceBytesMax = kDirectBytesMin;
// The first receive after a large payload: room for the next header and body, and for little of the next
// payload, which would otherwise be copied out of staging.
constexpr std::size_t kWindowBytesMin = 4 * 1024;
// The first piece of a body that staging cannot hold. A header costs the peer 16 bytes, so memory grows with
// the bytes received, not with the size announced.
constexpr std::size_t kBodyBytesMin = 16 * 1024;

template <typename T>
T LoadAt(std::span<const std::byte, kHeaderBytes> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct CarrierRange {
  std::uint8_t first, last;
  const char* words;
};

CarrierRange RangeOf(FrameLimits::Carriers carriers) {
  switch (carriers) {
    case FrameLimits::Carriers::kStream:
      break;
    case FrameLimits::Carriers::kStreamAndShared:
      return {kInStream, kShared, "0 or 1 (notes come through the socket)"};
    case FrameLimits::Carriers::kAll:
      return {kInStream, kNote, "0 to 2"};
    case FrameLimits::Carriers::kNotes:
      return {kNote, kNote, "2 (frames come through the pipe)"};
  }
  return {kInStream, kInStream, "0 (no memory is shared on this connection)"};
}

}  // namespace

std::array<std::byte, kHeaderBytes> EncodeHeader(const FrameHead& head) {
  std::array<std::byte, kHeaderBytes> bytes{};
  std::memcpy(bytes.data(), &kMagic, sizeof kMagic);
  bytes[2] = std::byte{head.kind};
  bytes[3] = std::byte{head.carrier};
  std::memcpy(bytes.data() + 4, &head.body_bytes, sizeof head.body_bytes);
  std::memcpy(bytes.data() + 8, &head.payload_bytes, sizeof head.payload_bytes);
  return bytes;
}

Result<FrameHead> DecodeHeader(std::span<const std::byte, kHeaderBytes> bytes, const FrameLimits& limits) {
  const auto magic = LoadAt<std::uint16_t>(bytes, 0);
  if (magic != kMagic) return Protocol("frame header: got magic 0x{:04X}, wanted 0x{:04X}", magic, kMagic);
  FrameHead head;
  head.kind = LoadAt<std::uint8_t>(bytes, 2);
  head.body_bytes = LoadAt<std::uint32_t>(bytes, 4);
  head.payload_bytes = LoadAt<std::uint64_t>(bytes, 8);
  const std::string_view kind = KindName(Kind{head.kind});
  head.carrier = LoadAt<std::uint8_t>(bytes, 3);
  const CarrierRange wanted = RangeOf(limits.carriers);
  if (head.carrier < wanted.first || head.carrier > wanted.last)
    return Protocol("{} header: got {} in byte 3, wanted {}", kind, head.carrier, wanted.words);
  const std::uint64_t body_bytes_max =
      std::uint64_t{limits.body_bytes_max} + (head.carrier != kInStream ? kCarrierBytesMax : 0);
  if (head.body_bytes > body_bytes_max) {
    return Protocol("{} header: got a body of {} bytes, wanted at most {}", kind, head.body_bytes,
                    body_bytes_max);
  }
  if (head.payload_bytes > limits.payload_bytes_max) {
    return Protocol("{} header: got a payload of {} bytes, wanted at most {}", kind, head.payload_bytes,
                    limits.payload_bytes_max);
  }
  return head;
}

Status FrameSink::OnCarried(const FrameHead& head, std::span<const std::byte>) {
  return Internal("{} frame with carrier {}, which nobody here takes", KindName(Kind{head.kind}),
                  head.carrier);
}

FrameReader::FrameReader(FrameSink& sink, std::size_t staging_bytes_max)
    : sink_(sink),
      staging_bytes_max_(std::max(staging_bytes_max, kHeaderBytes)),
      staging_(std::min(kWindowBytesMin, staging_bytes_max_)),
      window_(staging_.size()) {}

std::span<std::byte> FrameReader::Space() {
  std::span<std::byte> space;
  if (state_ == State::kPayload && PlaceSpace().size() >= std::min(kDirectBytesMin, staging_bytes_max_)) {
    space = PlaceSpace();
    into_ = Into::kPlace;
    window_ = std::min(kWindowBytesMin, staging_bytes_max_);
  } else if (state_ == State::kBody && !BodyFitsStaging()) {
    space = std::span(body_).first(std::min<std::size_t>(body_.size(), head_.body_bytes));
    space = space.subspan(body_filled_);
    into_ = Into::kBody;
  } else {
    space = StagingSpace();
    into_ = Into::kStaging;
  }
  offered_ = space.size();
  return space;
}

std::span<std::byte> FrameReader::PlaceSpace() const {
  return landing_.places[place_].subspan(place_filled_);
}

std::span<std::byte> FrameReader::StagingSpace() {
  // A payload that waits for more has consumed all that was staged; its body is about to be overwritten.
  if (state_ == State::kPayload && body_view_.data() != body_.data()) {
    body_.assign(body_view_.begin(), body_view_.end());  // no more than is staged
    body_view_ = body_;
  }
  const std::size_t staged = end_ - begin_;
  const std::size_t whole = state_ == State::kHeader ? kHeaderBytes
                            : state_ == State::kBody ? head_.body_bytes
                                                     : 0;
  // All that is missing of a body, as far as there is memory already; else what the window gives, which grows
  // only with bytes that come.
  const std::size_t missing = whole > staged ? whole - staged : 1;
  const std::size_t wanted = std::max(window_, std::min(missing, staging_.size() - staged));
  if (staged == 0) {
    begin_ = end_ = 0;
  } else if (staging_.size() - end_ < wanted) {
    std::memmove(staging_.data(), staging_.data() + begin_, staged);
    begin_ = 0;
    end_ = staged;
  }
  // Half a window will do: the first bytes of a frame alone make nothing grow.
  if (staging_.size() - end_ < wanted / 2 && staging_.size() < staging_bytes_max_) {
    staging_.resize(std::min(staging_bytes_max_, std::max(2 * staging_.size(), end_ + wanted)));
  }
  const std::span<std::byte> tail = std::span(staging_).subspan(end_);
  return tail.first(std::min(tail.size(), wanted));
}

Status FrameReader::Commit(std::size_t n) {
  LW_CHECK(n <= offered_, "committed {} bytes into a space of {}", n, offered_);
  if (!error_.ok()) return error_;
  switch (into_) {
    case Into::kStaging:
      end_ += n;
      // Filled to the brim: more is waiting, so take more at a time.
      if (n == offered_) window_ = std::min(window_ * 2, staging_bytes_max_);
      break;
    case Into::kBody:
      body_filled_ += n;
      break;
    case Into::kPlace:
      FillPlaces(n);
      break;
  }
  offered_ = 0;
  error_ = Parse();
  if (stopped_ || !error_.ok()) Abandon();
  return error_;
}

// Nothing more is read, and a half filled landing is given back.
void FrameReader::Abandon() {
  stopped_ = true;
  state_ = State::kHeader;
  begin_ = end_ = 0;
  landing_ = {};
}

bool FrameReader::AtBoundary() const { return state_ == State::kHeader && begin_ == end_; }

std::size_t FrameReader::memory_bytes() const {
  return staging_.capacity() + body_.capacity() + aligned_.capacity() * sizeof(std::uint64_t);
}

Status FrameReader::Parse() {
  while (!stopped_) {
    const std::span<const std::byte> staged = std::span(staging_).subspan(begin_, end_ - begin_);
    switch (state_) {
      case State::kHeader: {
        if (staged.size() < kHeaderBytes) return Status::Ok();
        LW_ASSIGN_OR_RETURN(head_, DecodeHeader(staged.first<kHeaderBytes>(), limits_));
        begin_ += kHeaderBytes;
        state_ = State::kBody;
        break;
      }
      case State::kBody: {
        if (BodyFitsStaging()) {
          if (staged.size() < head_.body_bytes) return Status::Ok();
          body_view_ = staged.first(head_.body_bytes);
          begin_ += head_.body_bytes;
        } else {
          LW_RETURN_IF_ERROR(TakeLargeBody(staged));
          if (body_filled_ < head_.body_bytes) return Status::Ok();
          body_view_ = std::span(body_).first(head_.body_bytes);
        }
        LW_RETURN_IF_ERROR(StartPayload());
        break;
      }
      case State::kPayload: {
        begin_ += CopyToPlaces(staged);
        if (place_ < landing_.places.size()) return Status::Ok();
        FinishFrame();
        break;
      }
    }
  }
  return Status::Ok();
}

Status FrameReader::TakeLargeBody(std::span<const std::byte> staged) {
  const std::size_t n = std::min<std::size_t>(staged.size(), head_.body_bytes - body_filled_);
  const std::size_t filled = body_filled_ + n;
  if (filled >= body_.size()) {
    LW_RETURN_IF_ERROR(
        GrowBody(std::min<std::size_t>(head_.body_bytes, std::max(kBodyBytesMin, 2 * filled))));
  }
  if (n > 0) std::memcpy(body_.data() + body_filled_, staged.data(), n);
  begin_ += n;
  body_filled_ = filled;
  return Status::Ok();
}

Status FrameReader::GrowBody(std::size_t bytes) {
  if (bytes <= body_.size()) return Status::Ok();
  try {
    body_.resize(bytes);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("{} frame: no memory for {} bytes of its body of {} bytes",
                             KindName(Kind{head_.kind}), bytes, head_.body_bytes);
  }
  return Status::Ok();
}

Status FrameReader::StartPayload() {
  if (head_.carrier != kInStream) {
    LW_RETURN_IF_ERROR(sink_.OnCarried(head_, body_view_));
    EndFrame();
    return Status::Ok();
  }
  if (head_.payload_bytes > 0) {
    head_.readable = IsReadable();
    LW_ASSIGN_OR_RETURN(landing_, sink_.OnFrameStart(head_, body_view_));
    stopped_ = !sink_.KeepReading();
    if (landing_.in_place && head_.readable) {
      if (!stopped_) ReadInPlace();
      return Status::Ok();
    }
    std::uint64_t bytes = 0;
    for (const std::span<std::byte> place : landing_.places) bytes += place.size();
    if (bytes != head_.payload_bytes) {
      return Internal("{} frame: got a landing of {} bytes in {} places, wanted {} bytes",
                      KindName(Kind{head_.kind}), bytes, landing_.places.size(), head_.payload_bytes);
    }
  }
  place_ = place_filled_ = 0;
  state_ = State::kPayload;
  FillPlaces(0);
  return Status::Ok();
}

bool FrameReader::IsReadable() const {
  return head_.payload_bytes <= std::min<std::size_t>(kInPlaceBytesMax, end_ - begin_);
}

void FrameReader::ReadInPlace() {
  std::span<const std::byte> payload = std::span(staging_).subspan(begin_, head_.payload_bytes);
  begin_ += payload.size();
  if (reinterpret_cast<std::uintptr_t>(payload.data()) % alignof(float) != 0) {
    aligned_.resize(kInPlaceBytesMax / sizeof(std::uint64_t));
    std::memcpy(aligned_.data(), payload.data(), payload.size());
    payload = std::as_bytes(std::span(aligned_)).first(payload.size());
  }
  landing_.views = std::span(&payload, 1);
  FinishFrame();
}

void FrameReader::FillPlaces(std::size_t n) {
  place_filled_ += n;
  while (place_ < landing_.places.size() && place_filled_ == landing_.places[place_].size()) {
    ++place_;
    place_filled_ = 0;
  }
}

std::size_t FrameReader::CopyToPlaces(std::span<const std::byte> staged) {
  std::size_t copied = 0;
  while (copied < staged.size() && place_ < landing_.places.size()) {
    const std::span<std::byte> space = PlaceSpace();
    const std::size_t n = std::min(space.size(), staged.size() - copied);
    std::memcpy(space.data(), staged.data() + copied, n);
    copied += n;
    FillPlaces(n);
  }
  return copied;
}

void FrameReader::FinishFrame() {
  state_ = State::kHeader;
  sink_.OnFrame(head_, body_view_, std::exchange(landing_, {}));
  EndFrame();
}

void FrameReader::EndFrame() {
  state_ = State::kHeader;
  stopped_ = !sink_.KeepReading();
  body_view_ = {};
  body_filled_ = 0;
  // A peer that goes idle keeps no large body.
  if (body_.capacity() > staging_bytes_max_) std::vector<std::byte>().swap(body_);
}

}  // namespace leeway::wire
