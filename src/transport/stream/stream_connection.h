// StreamConnection: one connection of a StreamTransport, from connect or accept to its end: over TCP, or over
// a Unix socket, with or without shared memory beside it (SharedExchange). Where there is shared memory,
// frames go through its pipe, and only notes, some with descriptors, through the socket.
//
// stream_connection.cc has its life and how it receives, stream_connection_send.cc how it sends,
// stream_connection_shared.cc what shared memory adds, stream_connection_pipe.cc the pipe.
//
// Waits for readiness and then calls recv and sendmsg itself: receives go straight to where FrameReader wants
// them, and everything queued during a turn of the loop leaves at its end. Reading never stops because of
// what is queued to be sent, or two peers with full queues would wait for each other for ever. Thread rule:
// the loop's.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/event_loop.h"
#include "transport/local/shared_exchange.h"
#include "transport/stream/address.h"
#include "transport/stream/send_queue.h"
#include "transport/stream/socket.h"
#include "transport/stream/stream_options.h"
#include "wire/frame.h"

namespace leeway {

class StreamConnection final : private wire::FrameSink {
 public:
  // What a connection asks of the transport that owns it.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void FlushAtTurnEnd(ConnectionId id) = 0;
    // Calls `step` in a turn of its own if the connection is still there then.
    virtual void RunLater(ConnectionId id, void (StreamConnection::*step)()) = 0;
    virtual TimerId RunAfter(Duration delay, ConnectionId id, void (StreamConnection::*step)()) = 0;
    virtual void CancelTimer(TimerId timer) = 0;
    // Calls OnResolved in a turn of its own if the connection is still there then.
    virtual void ResolveFor(ConnectionId id, const Endpoint& endpoint) = 0;
    // The shared memory of a new connection; null where this process has none.
    virtual std::unique_ptr<SharedExchange> MakeExchange() = 0;
    // Frames come through the connection's pipe from now on: PollPipe and the two after it are to be called.
    virtual void OnPiped(ConnectionId id) = 0;
    virtual void Write(LogLevel level, const std::string& line) = 0;
    // The id is gone at once, the object by the end of the turn.
    virtual void Retire(ConnectionId id) = 0;
  };

  StreamConnection(EventLoop& loop, Owner& owner, const StreamOptions& options, ConnectionId id,
                   TransportEvents& events);
  ~StreamConnection() override;

  // Exactly one of these, first.
  void Connect(const std::string& address);
  void Adopt(Socket socket, const std::string& peer);
  void OnResolved(Result<std::vector<SocketAddress>> found);

  void Send(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload);
  void SetLimits(const FrameLimits& limits);
  // No event comes any more. Drops what is queued.
  void Abandon();
  // No event comes any more. What is queued is sent, then the peer's end is waited for.
  void Linger();
  // Hands to the kernel, or to the pipe, what it takes now.
  void Flush();
  // As in LoopInput, for what comes through the pipe.
  bool PollPipe();
  [[nodiscard]] bool PipeMaySleep();
  void OnPipeAwake();
  [[nodiscard]] std::uint64_t QueuedBytes() const;
  [[nodiscard]] TimePoint last_received() const { return last_received_; }
  [[nodiscard]] std::string_view carrier() const;
  // Of one that is up over a Unix socket that shares nothing, or over TCP after one was tried; else empty.
  [[nodiscard]] const std::string& why_not_shared() const { return why_not_shared_; }

 private:
  enum class State : std::uint8_t {
    kConnecting,
    kGreeting,  // over a Unix socket: the peer has not shown its shared memory yet
    kOpen,
    kEnded
  };

  // FrameSink.
  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) override;
  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) override;
  Status OnCarried(const FrameHead& head, std::span<const std::byte> body) override;
  [[nodiscard]] bool KeepReading() const override {
    return state_ == State::kGreeting || (state_ == State::kOpen && !lingering_);
  }

  // A socket is there to be read and written.
  [[nodiscard]] bool IsUp() const { return state_ == State::kOpen || state_ == State::kGreeting; }

  void ConnectLocal(const std::string& address);
  void AddCandidates(const std::vector<SocketAddress>& tcp);
  void TryNextCandidate();
  void WatchSocket();
  void OnConnectReady();
  void OnUp();

  // Shared memory (stream_connection_shared.cc).
  void BeginGreeting();
  void GreetingTooLong();
  // This way of connecting does not work: tries the next.
  void GiveUpGreeting(const Status& why);
  [[nodiscard]] Status OnNote(NoteKind kind, std::span<const std::byte> body);
  // The one who was connected to has been greeted.
  void AnswerGreeting();
  // The peer shares nothing.
  [[nodiscard]] Status OnPlain(std::span<const std::byte> body);
  void ShareNothing();
  [[nodiscard]] Status OnSharedFrame(FrameHead head, std::span<const std::byte> body);
  // Queues the frame with places instead of bytes; false if they are not in shared memory.
  bool SendShared(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload);
  // Lets go of what the peer is done with.
  void CollectShared();
  // The same when nothing comes and nothing is sent.
  void CollectLater();
  // recv, with the descriptors that come along.
  [[nodiscard]] ssize_t ReceiveInto(std::span<std::byte> space);
  [[nodiscard]] ssize_t SendPieces(std::span<iovec> pieces, int descriptor) const;
  // Both ends have greeted: the pipe takes the place of the socket.
  void BeginPipe();
  [[nodiscard]] bool ReadsPipe() const { return pipe_ != nullptr && state_ == State::kOpen; }
  // One look into the pipe; true to go on reading in this turn. What comes to one that lingers is thrown
  // away.
  bool ReceivePiped();
  // What is in there, a turn's worth at the most, which is more than the ring holds: also what the peer has
  // left before it closed its end of the socket.
  void ReadPipe();
  void FlushPipe();
  // Wakes the peer.
  void Ring();
  void OnBell();
  // Sends what it can of `queue` through the socket; false if some is left.
  bool FlushSocket(SendQueue& queue, bool& waiting);
  // Takes the notes that are in the socket now, while a frame of the pipe is read.
  [[nodiscard]] Status ReadBeside();
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
  const StreamOptions& options_;
  const ConnectionId id_;
  TransportEvents& events_;

  State state_ = State::kConnecting;
  bool lingering_ = false;
  bool flush_wanted_ = false;
  bool write_waiting_ = false;   // queue_, for the socket or for room in the pipe
  bool beside_waiting_ = false;  // beside_, for the socket
  bool bell_queued_ = false;     // in beside_, unless that is empty
  std::string peer_;
  std::vector<SocketAddress> candidates_;  // addresses still to try, the next one last
  bool over_unix_ = false;
  FrameLimits limits_;
  TimerId greeting_timer_, collect_timer_;
  std::optional<TimePoint> greeting_until_;  // of all Unix sockets that are tried
  std::string why_not_shared_;
  std::unique_ptr<SharedExchange> exchange_;  // null: nothing is shared
  std::vector<SharedExchange::Note> notes_;   // these three: kept to reuse their memory
  std::vector<std::span<const std::byte>> views_;
  std::vector<std::byte> shared_body_;
  std::uint64_t unflushed_shared_bytes_ = 0;  // of payloads whose frames are queued since the last flush
  Status failure_;  // found where no event may be made; reported in a turn of its own
  TimerId linger_timer_;
  TimePoint last_progress_;  // when bytes last left, or the queue last began to fill
  // When the peer was last seen to have done with shared memory, or first got some.
  TimePoint last_collected_;
  TimePoint last_received_ = TimePoint::min();
  std::size_t turn_read_bytes_ = 0;
  SendQueue queue_;                          // to the pipe, if there is one
  SendQueue beside_;                         // then to the socket, and before what is in queue_
  BytePipe* pipe_ = nullptr;                 // of exchange_
  std::optional<wire::FrameReader> reader_;  // a new one with every socket
  std::optional<wire::FrameReader> pipe_reader_;
  Socket socket_;
  std::optional<EventLoop::Watch> watch_;  // ends before its socket
};

}  // namespace leeway
