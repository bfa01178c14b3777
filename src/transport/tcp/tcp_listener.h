// TcpListener: one listening socket. Hands accepted sockets on; pauses when the process has no descriptors
// left.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "leeway/env.h"
#include "leeway/status.h"
#include "transport/event_loop.h"
#include "transport/tcp/socket.h"
#include "transport/tcp/tcp_options.h"

namespace leeway {

class TcpListener {
 public:
  using Accepted = std::function<void(Socket socket, const std::string& peer)>;

  // Listens at "host:port"; port 0 takes any free one. Everything given outlives the listener.
  [[nodiscard]] static Result<std::unique_ptr<TcpListener>> Listen(EventLoop& loop, Timers& timers, Log& log,
                                                                   const TcpOptions& options,
                                                                   const std::string& address,
                                                                   Accepted accepted);
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  // As bound: the real port.
  [[nodiscard]] std::string address() const;

 private:
  TcpListener(EventLoop& loop, Timers& timers, Log& log, Socket socket, Accepted accepted);
  void OnReadable();

  Timers& timers_;
  Log& log_;
  const Socket socket_;
  const Accepted accepted_;
  TimerId pause_;
  EventLoop::Watch watch_;
};

}  // namespace leeway
