// Transport: connections that carry frames, as a node sees them.
//
// A frame is a kind, a small body and a payload (src/wire/frame.h has the bytes). Implementations frame and
// check lengths; they know nothing of what a frame means. Frames of one connection arrive whole, in order, at
// most once; when a connection is lost, any suffix of what was sent may be lost with it. Thread rule: that of
// Env.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/pinned.h"
#include "leeway/status.h"
#include "leeway/witness.h"

namespace leeway {

// Never given twice by a transport; 0 is none. The low bits are a slot: best a small number that is free
// again once its connection is closed, since tables of connections are arrays by it. The rest tells the uses
// of a slot apart. (A transport that numbers its connections from 1 on is correct, and slower.)
using ConnectionId = StrongInt<struct ConnectionTag, std::uint64_t>;
inline constexpr int kConnectionSlotBits = 24;
inline constexpr std::uint64_t kConnectionSlots = std::uint64_t{1} << kConnectionSlotBits;
[[nodiscard]] constexpr std::size_t SlotOf(ConnectionId id) {
  return static_cast<std::size_t>(id.value() & (kConnectionSlots - 1));
}
[[nodiscard]] constexpr std::uint64_t UseOf(ConnectionId id) { return id.value() >> kConnectionSlotBits; }
// REQUIRES: use is not 0; the slot fits its bits.
[[nodiscard]] constexpr ConnectionId MakeConnectionId(std::uint64_t use, std::uint64_t slot) {
  return ConnectionId(use << kConnectionSlotBits | slot);
}

// Where the payload of one incoming frame goes: places that together have exactly the payload's size, and the
// lease that keeps them. A lease ends with the whole frame (handed to OnFrame) or with the connection
// (dropped); a half-filled landing is never handed to anyone.
//
// A payload that is readable where it is (FrameHead::readable) need not land: with `in_place` and no places,
// OnFrame gets it as views, in order, that are valid during the call. Where another process owns that memory,
// what was read counts only if `witness` holds afterwards.
struct Landing {
  std::vector<std::span<std::byte>> places;
  std::shared_ptr<void> lease;  // shared: places may belong to several buffers, kept by one owner object
  // All that lands in such places before these are used, if known: a transport that copies may take into
  // account that no cache holds it.
  std::uint64_t of_bytes = 0;
  bool in_place = false;
  std::span<const std::span<const std::byte>> views = {};  // the transport's; each begins at a multiple of 4
  Witness witness = {};
};

struct FrameHead {
  std::uint8_t kind = 0;
  std::uint32_t body_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint8_t carrier = 0;  // how the payload travels (wire/frame.h); nodes need not look
  bool readable = false;     // of a frame that came: its payload can be read in place
};

// What a peer may send, checked on the header before anything is allocated.
struct FrameLimits {
  std::uint32_t body_bytes_max = 4096;  // the limits before the hello
  std::uint64_t payload_bytes_max = 0;
  // The transport's own: where shared memory may carry payloads, frames of that kind come too, or notes of
  // the carrier, or nothing but these.
  enum class Carriers : std::uint8_t { kStream, kStreamAndShared, kAll, kNotes };
  Carriers carriers = Carriers::kStream;
};

class TransportEvents {
 public:
  virtual ~TransportEvents() = default;
  // A peer connected to a Listen of ours. `peer` is its address, for messages only.
  virtual void OnAccepted(ConnectionId id, const std::string& peer) = 0;
  // A Connect of ours is up.
  virtual void OnConnected(ConnectionId id) = 0;
  // The header and body of a frame with a payload are here: says where the payload goes. An error closes the
  // connection (OnClosed with that status follows). Not called for frames without a payload.
  virtual Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                                       std::span<const std::byte> body) = 0;
  // A whole frame. `body` is valid during the call. `landing` may be moved from; what is left of it is let go
  // after the call.
  virtual void OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                       Landing&& landing) = 0;
  // The connection is gone, for the reason given; also the answer to a Connect that failed. The last event of
  // `id`.
  virtual void OnClosed(ConnectionId id, const Status& why) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Listens at "host:port" (port 0: any free one) and returns the address as bound. A transport may know
  // other forms, such as "local:name" for this host alone. `events` outlives the transport.
  virtual Result<std::string> Listen(const std::string& address, TransportEvents& events) = 0;
  // Starts to connect; OnConnected or OnClosed follows.
  virtual ConnectionId Connect(const std::string& address, TransportEvents& events) = 0;
  // Queues one frame. The body is copied; payload bytes are pinned until they have left, or, where the
  // receiver reads them where they lie, until it has done with them. A connection that is not yet up queues;
  // on one that is gone nothing is sent.
  virtual void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                    std::span<const Pinned> payload) = 0;
  // Lifts or lowers what `id` may send from the next header on. A new connection has the defaults of
  // FrameLimits.
  virtual void SetLimits(ConnectionId id, const FrameLimits& limits) = 0;
  // Closes at once, dropping what was not sent; no further event of `id` follows.
  virtual void Close(ConnectionId id) = 0;
  // Closes once what is queued has left (or after a short limit); no further event of `id` follows.
  virtual void CloseAfterSend(ConnectionId id) = 0;
  // Bytes queued and not yet handed to the network, and those that the receiver has yet to read where they
  // lie.
  [[nodiscard]] virtual std::uint64_t QueuedBytes(ConnectionId id) const = 0;
  // When bytes last came from the peer, be it a part of a frame, on the node's clock. TimePoint::min() if
  // none have come or the connection is gone.
  [[nodiscard]] virtual TimePoint LastReceived(ConnectionId id) const = 0;
  // What carries the frames of `id`: "local" (shared memory), "uds", "tcp", "sim"; empty if it is not up.
  [[nodiscard]] virtual std::string_view Carrier(ConnectionId id) const = 0;
  // Why the frames of `id`, which is up, do not go through shared memory although it was tried, for people.
  // Empty: they do, or it was not, or nobody knows.
  [[nodiscard]] virtual std::string WhyNotShared(ConnectionId /*id*/) const { return ""; }
  // The same text for every process on this host; empty if there is none.
  [[nodiscard]] virtual std::string_view Host() const = 0;
};

}  // namespace leeway
