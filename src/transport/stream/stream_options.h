// StreamOptions: every limit of the transport over sockets, with the reason for its default.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "transport/local/nontemporal_copy.h"
#include "transport/stream/carrier.h"

namespace leeway {

// Pieces in one write. Beyond some dozens nothing is gained, and the array is on the stack.
inline constexpr std::size_t kSendPiecesMax = 64;

struct StreamOptions {
  Carrier carrier = Carrier::kAuto;
  bool allow_non_loopback = false;  // Listen elsewhere than on loopback (--bind-any)

  // A peer that reads too slowly is cut off, so that no queue grows without bound. The limits count only once
  // the peer has taken nothing for stall_max. A peer that reads slowly is not at fault: a first broadcast of
  // a large model queues all of it, and a queue that is dropped would fill again after a reconnect. Meanwhile
  // the credit of pushes and one answer per pull bound the queue.
  std::size_t queue_frames_max = std::size_t{1} << 20;
  std::uint64_t queue_copied_bytes_max = 64ULL << 20;
  std::uint64_t queue_pinned_bytes_max = 1ULL << 30;
  std::chrono::milliseconds stall_max{5'000};

  // How long CloseAfterSend goes on sending, and then waits for the peer to have read everything.
  std::chrono::milliseconds linger_max{1'000};

  // Payload pieces below this are copied beside their header and their pin dropped at once: a copy of 4 KiB
  // costs less than an iovec, a reference count and a late release.
  std::size_t copy_bytes_max = 4096;
  // Payloads whose pieces have fewer bytes on average go with their frames: two copies of 1 KiB cost
  // less than a place, a pin and a cold cache line of the other process.
  std::size_t share_bytes_min = 1024;
  // How long the other end may take to greet over all its Unix sockets together before TCP is tried. Well
  // below LinkOptions::hello_timeout, which has to be enough for both.
  std::chrono::milliseconds greeting_max{1'000};
  // Answers of a model of so many bytes are copied out of shared memory with non-temporal stores.
  std::uint64_t nontemporal_bytes_min = NontemporalBytesMin();
  // Bounds one peer's memory that is mapped here to be read. A process has 128 TiB of addresses: a hundred
  // peers that announce more than they have leave room for honest ones.
  std::uint64_t peer_bytes_max = 1ULL << 40;
  // Memory that the peer has done with is let go when something comes from it or is sent to it, and else this
  // often.
  std::chrono::milliseconds collect_every{50};
  // Bytes written, and bytes read, for one connection in one turn of the loop, so that one busy peer cannot
  // starve the others, nor sending starve receiving.
  std::size_t turn_write_bytes_max = std::size_t{2} << 20;
  std::size_t turn_read_bytes_max = std::size_t{2} << 20;
  // Small frames leave at the end of a turn, together, or when so many bytes of them have come together, or
  // they name so much shared memory: the peer begins to read it while this turn goes on.
  std::size_t turn_copied_bytes_max = 4096;
  std::uint64_t turn_shared_bytes_max = 128 * 1024;
  // The most that is received at once beyond large payloads, which go straight to their place. A connection
  // begins with 4 KiB and has this much only once so much came at a time; its pipe has the same once more.
  std::size_t staging_bytes = 64 * 1024;
  // Pieces of one write.
  std::size_t write_bytes_max = 256 * 1024;
};

}  // namespace leeway
