// TcpConnection: one connection of a TcpTransport, from connect or accept to its end.
//
// Waits for readiness and then calls recv and sendmsg itself: receives go straight to where FrameReader wants
// them, and everything queued during a turn of the loop leaves at its end. Reading never stops because of
// what is queued to be sent, or two peers with full queues would wait for each other for ever. Thread rule:
// the loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/event_loop.h"
#include "transport/tcp/address.h"
#include "transport/tcp/send_queue.h"
#include "transport/tcp/socket.h"
#include "transport/tcp/tcp_options.h"
#include "wire/frame.h"

namespace leeway {

class TcpConnection final : private wire::FrameSink {
 public:
  // What a connection asks of the transport that owns it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void FlushAtTurnEnd(ConnectionId id) = 0;
    // Calls `step` in a turn of its own if the connection is still there then.
    virtual void RunLater(ConnectionId id, void (TcpConnection::*step)()) = 0;
    virtual TimerId RunAfter(Duration delay, ConnectionId id, void (TcpConnection::*step)()) = 0;
    virtual void CancelTimer(TimerId timer) = 0;
    // Calls OnResolved in a turn of its own if the connection is still there then.
    virtual void ResolveFor(ConnectionId id, const Endpoint& endpoint) = 0;
    // The id is gone at once, the object by the end of the turn.
    virtual void Retire(ConnectionId id) = 0;
  };

  TcpConnection(EventLoop& loop, Owner& owner, const TcpOptions& options, ConnectionId id,
                TransportEvents& events);
  ~TcpConnection() override;

  // Exactly one of these, first.
  void Connect(const std::string& address);
  void Adopt(Socket socket, const std::string& peer);
  void OnResolved(Result<std::vector<SocketAddress>> found);

  void Send(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload);
  void SetLimits(const FrameLimits& limits) { reader_.SetLimits(limits); }
  // No event comes any more. Drops what is queued.
  void Abandon();
  // No event comes any more. What is queued is sent, then the peer's end is waited for.
  void Linger();
  // Hands to the kernel what it takes now.
  void Flush();
  [[nodiscard]] std::uint64_t QueuedBytes() const { return queue_.bytes(); }
  [[nodiscard]] TimePoint last_received() const { return last_received_; }

 private:
  enum class State : std::uint8_t { kConnecting, kOpen, kEnded };

  // FrameSink.
  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) override;
  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing landing) override;
  [[nodiscard]] bool KeepReading() const override { return state_ == State::kOpen && !lingering_; }

  void TryNextCandidate();
  void OnConnectReady();
  void OnReadable();
  void OnWritable();
  // One recv; true to go on reading in this turn.
  bool Receive();
  void Discard();
  void BreakSending(int error);
  void FinishLinger();
  [[nodiscard]] Status WhyQueueIsTooLong() const;
  // Ends the connection; OnClosed unless lingering. Only as a step of the loop.
  void Fail(const Status& why);
  void FailPending();
  void LingerTooLong();

  EventLoop& loop_;
  Owner& owner_;
  const TcpOptions& options_;
  const ConnectionId id_;
  TransportEvents& events_;

  State state_ = State::kConnecting;
  bool lingering_ = false;
  bool flush_wanted_ = false;
  bool write_waiting_ = false;
  std::string peer_;
  std::vector<SocketAddress> candidates_;  // addresses still to try, the next one last
  Status failure_;                         // found where no event may be made; reported in a turn of its own
  TimerId linger_timer_;
  TimePoint last_progress_;  // when bytes last left, or the queue last began to fill
  TimePoint last_received_ = TimePoint::min();
  std::size_t turn_read_bytes_ = 0;
  SendQueue queue_;
  wire::FrameReader reader_;
  Socket socket_;
  std::optional<EventLoop::Watch> watch_;  // ends before its socket
};

}  // namespace leeway
