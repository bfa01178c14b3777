// CheckUnread: keeps a peer from asking for more than it reads. Nodes read on while answers are queued, or
// two peers with full queues would wait for each other. So the queue of a peer that only asks would grow
// without bound.
#pragma once

#include <cstdint>

#include "base/errors.h"
#include "leeway/env.h"
#include "leeway/transport.h"

namespace leeway {

// An error if more than `bytes_max` bytes wait for this peer, which has just sent another frame.
[[nodiscard]] inline Status CheckUnread(const Env& env, ConnectionId id, std::uint64_t bytes_max) {
  const std::uint64_t queued = env.transport.QueuedBytes(id);
  if (queued <= bytes_max) return Status::Ok();
  return ResourceExhausted(
      "it asks for more than it reads: {} bytes of answers wait for it, wanted at most {} (unread_bytes_max)",
      queued, bytes_max);
}

}  // namespace leeway
