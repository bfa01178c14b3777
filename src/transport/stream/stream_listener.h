// StreamListener: one listening socket. Hands accepted sockets on; pauses when the process has no descriptors
// left.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/rate_limited_log.h"
#include "leeway/env.h"
#include "leeway/status.h"
#include "transport/loop/event_loop.h"
#include "transport/stream/socket.h"
#include "transport/stream/stream_options.h"

namespace leeway {

class StreamListener {
 public:
  using Accepted = std::function<void(Socket socket, const std::string& peer)>;

  // Listens at "host:port"; port 0 takes any free one. Everything given outlives the listener.
  [[nodiscard]] static Result<std::unique_ptr<StreamListener>> Listen(EventLoop& loop, Timers& timers,
                                                                      RateLimitedLog& log,
                                                                      const StreamOptions& options,
                                                                      const std::string& address,
                                                                      Accepted accepted);
  // Listens at the Unix socket `at` for processes of this host and user; `address` names it in messages.
  [[nodiscard]] static Result<std::unique_ptr<StreamListener>> ListenLocal(EventLoop& loop, Timers& timers,
                                                                           RateLimitedLog& log,
                                                                           const SocketAddress& at,
                                                                           const std::string& address,
                                                                           Accepted accepted);
  ~StreamListener();
  StreamListener(const StreamListener&) = delete;
  StreamListener& operator=(const StreamListener&) = delete;

  // As bound: the real port.
  [[nodiscard]] SocketAddress address() const;

 private:
  StreamListener(EventLoop& loop, Timers& timers, RateLimitedLog& log, Socket socket, Accepted accepted);
  void OnReadable();
  void Accept(Socket socket, const SocketAddress& from);

  Timers& timers_;
  RateLimitedLog& log_;
  const Socket socket_;
  const Accepted accepted_;
  TimerId pause_;
  EventLoop::Watch watch_;
};

}  // namespace leeway
