// These functions say when a queue to a peer is too long: only if it is over a limit of StreamOptions and the
// peer has taken nothing for `stall_max`. Pure functions.
#pragma once

#include <string>

#include "leeway/env.h"
#include "leeway/status.h"
#include "transport/stream/send_queue.h"
#include "transport/stream/stream_options.h"

namespace leeway {

[[nodiscard]] bool IsOverLimit(const SendQueue& queue, const StreamOptions& options);
// `since`: how long nothing has left a queue that is over its limit.
[[nodiscard]] Status CheckStall(const std::string& peer, const SendQueue& queue, Duration since,
                                const StreamOptions& options);
// The same for payloads in shared memory, which wait until the peer has read them.
[[nodiscard]] Status CheckSharedStall(const std::string& peer, std::uint64_t pinned_bytes,
                                      std::size_t pinned_frames, Duration since,
                                      const StreamOptions& options);

}  // namespace leeway
