// ConnectionContext: the surroundings of one connection, which its parts use alike. All outlive the
// connection.
#pragma once

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/loop/event_loop.h"
#include "transport/stream/stream_options.h"

namespace leeway {

struct ConnectionContext {
  EventLoop& loop;
  Timers& timers;
  const StreamOptions& options;
  ConnectionId id;
  TransportEvents& events;
};

}  // namespace leeway
