// ControlCell: what one end of a local connection tells the other without sending anything. Lies in the arena
// of the end that writes it; the other end maps it and reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace leeway {

struct alignas(64) ControlCell {
  // Frames with shared payloads that this end has done with: their memory is the sender's own again.
  std::atomic<std::uint64_t> consumed{0};
  // A number that this connection alone has, told in the greeting; another one from the moment on that this
  // end takes back memory which it has sent and the other may not have read yet. What is read from then on is
  // not what was sent.
  std::atomic<std::uint64_t> session{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace leeway
