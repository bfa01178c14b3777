// Transport: connections that carry frames, as a node sees them.
//
// A frame is a kind, a small body and a payload (src/wire/frame.h has the bytes). Implementations frame bytes
// and check lengths; they do not know the meaning of a frame. Frames of one connection arrive whole, at most
// once, and in order, but for what their FrameOrder permits. A lost connection may lose any suffix of the
// frames sent. Thread rule: as for Env.
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

// A transport never gives an id twice; 0 means no connection. The low bits are a slot, the rest tells the
// uses of a slot apart. A slot should be a small number that is reused after its connection closed, because
// nodes keep connections in arrays by slot. (A transport that numbers its connections from 1 is correct, and
// slower.)
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

// Where the payload of one incoming frame goes: places of together exactly the payload's size, and the lease
// that keeps them. The lease ends with the whole frame (handed to OnFrame) or with the connection (dropped).
// No node ever sees a half-filled landing.
//
// A payload that the node can read in place (FrameHead::readable) need not land. With `in_place` and no
// places, OnFrame gets the payload as views, in order, valid during the call. If another process owns that
// memory, the bytes count only if `witness` holds after the last read.
struct Landing {
  std::vector<std::span<std::byte>> places;
  std::shared_ptr<void> lease;  // shared: one owner object keeps places that may belong to several buffers
  // The bytes that land in such places before the node uses these, if known. A transport that copies may
  // conclude that no cache holds them.
  std::uint64_t of_bytes = 0;
  bool in_place = false;
  // The transport's memory; each view begins at a multiple of 4.
  std::span<const std::span<const std::byte>> views = {};
  Witness witness = {};
};

struct FrameHead {
  std::uint8_t kind = 0;
  std::uint32_t body_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint8_t carrier = 0;  // how the payload travels (wire/frame.h); nodes need not look
  bool readable = false;     // of a received frame: the node can read its payload in place
};

// Limits on a peer's frames. The transport checks the header against them before it allocates.
struct FrameLimits {
  std::uint32_t body_bytes_max = 4096;  // this default holds before the hello
  std::uint64_t payload_bytes_max = 0;
  // For the transport's own use: whether frames with payloads in shared memory, notes of the carrier, or only
  // notes may come.
  enum class Carriers : std::uint8_t { kStream, kStreamAndShared, kAll, kNotes };
  Carriers carriers = Carriers::kStream;
};

// How a frame may be ordered among the frames of its connection that wait to leave.
struct FrameOrder {
  enum class Kind : std::uint8_t {
    kInOrder,     // no frame passes it, and it passes none
    kControl,     // before all others
    kVerdicts,    // and other brief frames: before those with a priority
    kByPriority,  // the lower the priority the sooner; waiting raises it, so that none starves
  };
  Kind kind = Kind::kInOrder;
  std::uint8_t priority = 0;
  // The blocks that the frame names, valid during the call. Frames that name a common block keep their order.
  std::span<const BlockId> blocks = {};
};

class TransportEvents {
 public:
  virtual ~TransportEvents() = default;
  // A peer connected to our Listen. `peer` is its address, for messages only.
  virtual void OnAccepted(ConnectionId id, const std::string& peer) = 0;
  // Our Connect is up.
  virtual void OnConnected(ConnectionId id) = 0;
  // The header and body of a frame with a payload have arrived; returns where the payload goes. An error
  // closes the connection (OnClosed with that status follows). Not called for frames without a payload.
  virtual Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                                       std::span<const std::byte> body) = 0;
  // A whole frame has arrived. `body` is valid during the call. The node may move from `landing`; the
  // transport releases the rest after the call.
  virtual void OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                       Landing&& landing) = 0;
  // The connection is gone, for the reason `why`; also the answer to a failed Connect. The last event of
  // `id`.
  virtual void OnClosed(ConnectionId id, const Status& why) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // Listens at "host:port" (port 0: any free port) and returns the bound address. A transport may know other
  // forms, such as "local:name" for this host alone. REQUIRES: `events` outlives the transport.
  virtual Result<std::string> Listen(const std::string& address, TransportEvents& events) = 0;
  // Starts to connect; OnConnected or OnClosed follows.
  virtual ConnectionId Connect(const std::string& address, TransportEvents& events) = 0;
  // Queues one frame. The body is copied. The payload stays pinned until it has left, or until a receiver
  // that reads it in place has finished. A connection that is not yet up queues the frame; a closed one drops
  // it.
  // A transport may leave each frame its place, whatever `order` says.
  virtual void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
                    std::span<const Pinned> payload, const FrameOrder& order) = 0;
  // The same for a frame that keeps its place.
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload) {
    Send(id, kind, body, payload, FrameOrder());
  }
  // Changes the limits on frames of `id` from the next header on. A new connection has the defaults of
  // FrameLimits.
  virtual void SetLimits(ConnectionId id, const FrameLimits& limits) = 0;
  // Closes at once and drops unsent frames; no event of `id` follows.
  virtual void Close(ConnectionId id) = 0;
  // Closes once the queued frames have left (or after a short limit); no event of `id` follows.
  virtual void CloseAfterSend(ConnectionId id) = 0;
  // Counts bytes that are queued and not yet handed to the network, and bytes that the receiver has yet to
  // read in place.
  [[nodiscard]] virtual std::uint64_t QueuedBytes(ConnectionId id) const = 0;
  // The time on the node's clock when bytes last came from the peer, even part of a frame. TimePoint::min()
  // if no bytes have come or the connection is gone.
  [[nodiscard]] virtual TimePoint LastReceived(ConnectionId id) const = 0;
  // The carrier of `id`: "local" (shared memory), "uds", "tcp", "sim"; empty if the connection is not up.
  [[nodiscard]] virtual std::string_view Carrier(ConnectionId id) const = 0;
  // Says, for people, why `id` does not use shared memory although the transport tried. Empty if it does use
  // it, if nothing was tried, or if the reason is unknown.
  [[nodiscard]] virtual std::string WhyNotShared(ConnectionId /*id*/) const { return ""; }
  // A text that is the same for every process on this host; empty if the transport knows no host.
  [[nodiscard]] virtual std::string_view Host() const = 0;
};

}  // namespace leeway
