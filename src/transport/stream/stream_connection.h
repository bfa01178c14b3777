// StreamConnection: one connection of a StreamTransport, from connect or accept to its end.
//
// A connection finds a way to the peer (Dialing), over TCP or a Unix socket (SocketConnection). Two processes
// of one host greet each other over the Unix socket, and then share memory (SharedConnection). Everything
// queued during a turn of the loop leaves at its end. Thread rule: the loop's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/stream/address.h"
#include "transport/stream/connection_context.h"
#include "transport/stream/dialing.h"
#include "transport/stream/shared_connection.h"
#include "transport/stream/socket_connection.h"

namespace leeway {

class StreamConnection final : private SocketConnection::Events {
 public:
  // The transport that owns a connection, as the connection sees it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void FlushAtTurnEnd(ConnectionId id) = 0;
    // Calls `step` in a turn of its own if the connection is still there then.
    virtual void RunLater(ConnectionId id, void (StreamConnection::*step)()) = 0;
    // Calls OnResolved in a turn of its own if the connection is still there then.
    virtual void ResolveFor(ConnectionId id, const Endpoint& endpoint) = 0;
    // Returns the shared memory of a new connection; null where this process has none.
    virtual std::unique_ptr<SharedExchange> MakeExchange() = 0;
    // Frames come through the connection's pipe from now on: PollPipe is to be called, and shared() to be
    // asked before the loop sleeps.
    virtual void OnPiped(ConnectionId id) = 0;
    virtual void Write(LogLevel level, const std::string& line) = 0;
    // The id is gone at once, the object by the end of the turn.
    virtual void Retire(ConnectionId id) = 0;
  };

  StreamConnection(const ConnectionContext& context, Owner& owner);
  ~StreamConnection() override;

  // The transport calls exactly one of Connect and Adopt, first.
  void Connect(const std::string& address);
  void Adopt(Socket socket, const std::string& peer);
  void OnResolved(const Result<std::vector<SocketAddress>>& found);

  // Shared memory keeps the order of frames.
  void Send(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload,
            const FrameOrder& order);
  void SetLimits(const FrameLimits& limits);
  // No event comes any more. Drops all queued frames.
  void Abandon();
  // No event comes any more. Sends all queued frames, then waits for the peer to close.
  void Linger();
  // Hands as much to the kernel, or to the pipe, as it takes now.
  void Flush();
  // Does as LoopInput says, for the bytes of the pipe.
  bool PollPipe();
  // REQUIRES: the owner was told OnPiped.
  [[nodiscard]] SharedConnection& shared() { return *shared_; }
  [[nodiscard]] std::uint64_t QueuedBytes() const;
  [[nodiscard]] TimePoint last_received() const {
    return shared_ ? std::max(socket_.last_received(), shared_->last_received()) : socket_.last_received();
  }
  [[nodiscard]] std::string_view carrier() const;
  // Says why a connection that is up shares no memory, although its Unix socket was tried. Empty: it shares
  // some, or none was tried.
  [[nodiscard]] const std::string& why_not_shared() const { return why_not_shared_; }

 private:
  enum class State : std::uint8_t {
    kConnecting,
    kGreeting,  // over a Unix socket: the peer has not shown its shared memory yet
    kOpen,
    kEnded
  };

  // SocketConnection::Events.
  void OnReadable() override;
  void OnWritable() override;
  void OnSendFailed(int error) override;
  void OnDescriptor(Descriptor fd) override { shared_->OnDescriptor(std::move(fd)); }
  void OnDescriptorsLost(std::size_t at_once_max) override { shared_->OnDescriptorsLost(at_once_max); }
  // Now, since the peer is done with a payload before it says what became of it: a node that reads the
  // verdict must find its memory free.
  void OnBytes() override { shared_->Collect(); }
  Status CheckFrame() override { return shared_->CheckFrame(); }
  Status OnCarried(const FrameHead& head, std::span<const std::byte> body) override;

  // A socket is there to be read and written.
  [[nodiscard]] bool IsUp() const { return state_ == State::kOpen || state_ == State::kGreeting; }
  [[nodiscard]] bool IsPiped() const { return shared_ && shared_->piped(); }
  [[nodiscard]] bool IsWaiting() const { return IsPiped() ? shared_->waiting() : socket_.waiting(); }
  // Returns the queue that frames wait in.
  [[nodiscard]] const SendQueue& queue() const { return IsPiped() ? shared_->queue() : socket_.queue(); }

  void TryNextAddress();
  void OnConnectReady();
  void OnUp();
  // Asks the peer to share memory, over a Unix socket.
  void BeginGreeting();
  // This way of connecting does not work: tries the next.
  void GiveUpGreeting(const Status& why);
  // The side that accepted has been greeted.
  void AnswerGreeting();
  // The peer shares nothing.
  [[nodiscard]] Status OnPlain(std::span<const std::byte> body);
  // Makes shared_, which comes to use once both ends have greeted. False: this process has no shared memory.
  bool OfferShared();
  void ShareNothing();
  // The pipe takes the place of the socket. `queue` waits since before.
  void BeginPipe(SendQueue queue);
  void ReadPipe();
  void OnReadEnd(const SocketConnection::ReadResult& read);
  void StopReading();
  void ClearQueues();
  void FlushAtTurnEnd();
  [[nodiscard]] Status CheckQueues() const;
  // Ends the connection, with OnClosed unless it lingers. REQUIRES: a step of the loop.
  void Fail(const Status& why);
  void FailPending();

  const ConnectionContext context_;
  Owner& owner_;
  std::string peer_;
  State state_ = State::kConnecting;
  bool lingering_ = false;
  bool flush_wanted_ = false;
  TimerId greeting_timer_, linger_timer_;
  Status failure_;  // found where no event may be made; reported in a turn of its own
  Dialing dialing_;
  std::string why_not_shared_;
  std::optional<SharedConnection> shared_;  // empty: no memory is shared, nor can it come to that
  SocketConnection socket_;                 // closes before this end takes its shared memory back
};

}  // namespace leeway
