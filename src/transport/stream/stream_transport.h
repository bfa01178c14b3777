// StreamTransport: the Transport of the real world. Owns connections and listeners; the work is in
// StreamConnection.
//
// Thread rule: the loop's. Events come only as turns of the loop, never from inside a call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rate_limited_log.h"
#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/thread_compute.h"
#include "transport/stream/stream_connection.h"
#include "transport/stream/stream_listener.h"
#include "transport/stream/stream_options.h"

namespace leeway {

class StreamTransport final : public Transport, private StreamConnection::Owner, private LoopInput {
 public:
  // Takes the turn-end hook of `loop`. Everything given outlives the transport.
  StreamTransport(EventLoop& loop, const Clock& clock, Timers& timers, Log& log, Random& random,
                  SharedArena& arena, const StreamOptions& options);
  ~StreamTransport() override;

  Result<std::string> Listen(const std::string& address, TransportEvents& events) override;
  ConnectionId Connect(const std::string& address, TransportEvents& events) override;
  void Send(ConnectionId id, std::uint8_t kind, std::span<const std::byte> body,
            std::span<const Pinned> payload, const FrameOrder& order) override;
  void SetLimits(ConnectionId id, const FrameLimits& limits) override;
  void Close(ConnectionId id) override;
  void CloseAfterSend(ConnectionId id) override;
  [[nodiscard]] std::uint64_t QueuedBytes(ConnectionId id) const override;
  [[nodiscard]] TimePoint LastReceived(ConnectionId id) const override;
  [[nodiscard]] std::string_view Carrier(ConnectionId id) const override;
  [[nodiscard]] std::string WhyNotShared(ConnectionId id) const override;
  [[nodiscard]] std::string_view Host() const override { return host_text_; }

 private:
  struct Slot {
    std::uint64_t uses = 0;
    std::unique_ptr<StreamConnection> connection;
  };

  void FlushAtTurnEnd(ConnectionId id) override;
  void RunLater(ConnectionId id, void (StreamConnection::*step)()) override;
  void ResolveFor(ConnectionId id, const Endpoint& endpoint) override;
  std::unique_ptr<SharedExchange> MakeExchange() override;
  void Write(LogLevel level, const std::string& line) override { log_.Write(level, line); }
  void Retire(ConnectionId id) override;
  void OnPiped(ConnectionId id) override;

  // LoopInput: the bytes of pipes.
  bool Poll() override;
  bool MaySleep() override;
  void OnAwake() override;

  [[nodiscard]] Result<std::string> ListenLocal(const std::string& address,
                                                const StreamListener::Accepted& accepted);
  ConnectionId Add(TransportEvents& events);
  [[nodiscard]] StreamConnection* Find(ConnectionId id) const;
  void OnTurnEnd();

  EventLoop& loop_;
  Timers& timers_;
  Log& log_;
  Random& random_;
  SharedArena& arena_;
  const StreamOptions options_;
  ThreadCompute look_ups_;
  const Result<HostKey> host_;
  const std::string host_text_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<ConnectionId> dirty_;                         // with something to send at the end of this turn
  std::vector<std::unique_ptr<StreamConnection>> retired_;  // may be on the stack until the end of this turn
  std::vector<ConnectionId> piped_;  // those with a pipe; while there are any, we are an input
  RateLimitedLog accept_log_;
  std::vector<std::unique_ptr<StreamListener>> listeners_;
};

}  // namespace leeway
