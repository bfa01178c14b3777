// ControlCell: the counters that one end of a local connection shows the other without sending anything. Lies
// in the arena of the end that writes it; the other end maps it and reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace leeway {

struct alignas(64) ControlCell {
  // Frames with shared payloads that this end has done with: their memory is the sender's own again.
  std::atomic<std::uint64_t> consumed{0};
  // A number of this connection alone, told in the greeting. It changes when this end takes back memory that
  // the other may not have read yet: bytes read after the change are not the bytes that were sent.
  std::atomic<std::uint64_t> session{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace leeway
