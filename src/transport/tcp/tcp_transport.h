// TcpTransport: the Transport of the real world. Owns connections and listeners; the work is in
// TcpConnection.
//
// Thread rule: the loop's. Events come only as turns of the loop, never from inside a call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/event_loop.h"
#include "transport/tcp/tcp_connection.h"
#include "transport/tcp/tcp_listener.h"
#include "transport/tcp/tcp_options.h"

namespace leeway {

class TcpTransport final : public Transport, private TcpConnection::Owner {
 public:
  // Takes the turn-end hook of `loop`. Everything given outlives the transport.
  TcpTransport(EventLoop& loop, Timers& timers, Log& log, const TcpOptions& options);
  ~TcpTransport() override;

  Result<std::string> Listen(const std::string& address, TransportEvents& events) override;
  ConnectionId Connect(const std::string& address, TransportEvents& events) override;
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload) override;
  void SetLimits(ConnectionId id, const FrameLimits& limits) override;
  void Close(ConnectionId id) override;
  void CloseAfterSend(ConnectionId id) override;
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const override;
  [[nodiscard]] TimePoint LastReceived(ConnectionId id) const override;

 private:
  // An id is a slot's index and how often the slot was taken: found without hashing, never given twice.
  struct Slot {
    std::uint64_t generation = 0;
    std::unique_ptr<TcpConnection> connection;
  };

  void FlushAtTurnEnd(ConnectionId id) override;
  void RunLater(ConnectionId id, void (TcpConnection::*step)()) override;
  TimerId RunAfter(Duration delay, ConnectionId id, void (TcpConnection::*step)()) override;
  void CancelTimer(TimerId timer) override { timers_.Cancel(timer); }
  void ResolveFor(ConnectionId id, const Endpoint& endpoint) override;
  void Retire(ConnectionId id) override;

  ConnectionId Add(TransportEvents& events);
  [[nodiscard]] TcpConnection* Find(ConnectionId id) const;
  void OnTurnEnd();

  EventLoop& loop_;
  Timers& timers_;
  Log& log_;
  const TcpOptions options_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<ConnectionId> dirty_;                      // with something to send at the end of this turn
  std::vector<std::unique_ptr<TcpConnection>> retired_;  // may be on the stack until the end of this turn
  std::vector<std::unique_ptr<TcpListener>> listeners_;
};

}  // namespace leeway
