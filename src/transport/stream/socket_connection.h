// SocketConnection: frames and notes over one socket, TCP or Unix.
//
// Waits for readiness and then calls recv and sendmsg itself: received bytes go straight to where FrameReader
// wants them. Frames queue here until Flush. A full send queue never stops reading: two peers with full
// queues would wait for each other for ever. Thread rule: the loop's.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/loop/event_loop.h"
#include "transport/stream/address.h"
#include "transport/stream/connection_context.h"
#include "transport/stream/note_stream.h"
#include "transport/stream/send_queue.h"
#include "transport/stream/socket.h"
#include "transport/system/descriptor.h"
#include "wire/frame.h"

namespace leeway {

class SocketConnection final : public NoteStream, private wire::FrameSink {
 public:
  // The owner of a socket connection, as the connection sees it.
  class Events {
   public:
    virtual ~Events() = default;
    // These come as turns of the loop.
    virtual void OnReadable() = 0;
    virtual void OnWritable() = 0;
    virtual void OnSendFailed(int error) = 0;

    // These come only while SetCarriers allows more than frames of the stream. The first tells of a
    // descriptor that came along; they come in order, before their notes.
    virtual void OnDescriptor(Descriptor fd) = 0;
    // The kernel dropped descriptors, of which it takes in `at_once_max` with one call.
    virtual void OnDescriptorsLost(std::size_t at_once_max) = 0;
    // Bytes have come. Their frames follow.
    virtual void OnBytes() = 0;
    // A frame of the stream begins. An error ends the connection.
    [[nodiscard]] virtual Status CheckFrame() = 0;
    // A note has come, or a frame whose payload is not in the stream.
    virtual Status OnCarried(const FrameHead& head, std::span<const std::byte> body) = 0;
  };

  SocketConnection(const ConnectionContext& context, Events& events);

  // Opens a socket and begins to connect it, in place of the one before. The queue stays. Returns the errno
  // of connect, 0 if it is up or under way; an error where no socket can be opened.
  [[nodiscard]] Result<int> Connect(const SocketAddress& to);
  void Adopt(Socket socket);
  // Returns the errno of the connect that was under way.
  [[nodiscard]] int ConnectError() const;
  [[nodiscard]] const Socket& socket() const { return socket_; }
  [[nodiscard]] bool over_unix() const { return over_unix_; }
  void Unwatch() { watch_.reset(); }
  void WaitReadable() { watch_->WaitReadable(); }
  void WaitWritable() { watch_->WaitWritable(); }

  // Both count from the next header on.
  void SetLimits(const FrameLimits& limits);
  void SetCarriers(FrameLimits::Carriers carriers);
  [[nodiscard]] const FrameLimits& limits() const { return limits_; }
  enum class ReadEnd : std::uint8_t {
    kWait,      // until the socket is readable, or reading was stopped
    kDrained,   // nothing was there
    kBadBytes,  // `status` says why
    kClosed     // by the peer, or with the errno `error`
  };
  struct ReadResult {
    ReadEnd end = ReadEnd::kWait;
    Status status;
    int error = 0;
  };
  // Reads the bytes that have come, at most a turn's worth.
  [[nodiscard]] ReadResult Read();
  // Discards the bytes that have come. Returns how many, or nothing at the end of the connection.
  [[nodiscard]] std::optional<std::size_t> Discard();
  // From now on no frame is handed on.
  void StopReading() { reading_ = false; }
  [[nodiscard]] bool AtFrameBoundary() const { return reader_->AtBoundary(); }
  [[nodiscard]] TimePoint last_received() const { return last_received_; }

  void Send(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload,
            const FrameOrder& order = {});
  // Sends as much as the kernel takes now. True: nothing is left.
  bool Flush();
  // Writes a note past the queue, which is for a new socket; false if the kernel does not take all of it.
  [[nodiscard]] bool WriteNote(NoteKind kind, std::span<const std::byte> body, int fd);
  void PushNote(NoteKind kind, std::span<const std::byte> body, int fd) override;
  bool FlushSocket() override { return Flush(); }
  [[nodiscard]] bool HasUnsent() const override { return !queue_.empty(); }
  [[nodiscard]] Status ReadNotes() override;
  // Ends this end's half of the connection.
  void ShutDownSending() const;

  [[nodiscard]] const SendQueue& queue() const { return queue_; }
  void ClearQueue() { queue_.Clear(); }
  // Hands over all queued frames, and begins a new queue.
  [[nodiscard]] SendQueue TakeQueue();
  // True: the queue waits until the socket is writable.
  [[nodiscard]] bool waiting() const { return waiting_; }
  // Returns when bytes last left, or the queue last began to fill.
  [[nodiscard]] TimePoint last_progress() const { return last_progress_; }

 private:
  // FrameSink.
  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) override;
  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) override;
  Status OnCarried(const FrameHead& head, std::span<const std::byte> body) override;
  [[nodiscard]] bool KeepReading() const override { return reading_; }

  [[nodiscard]] bool CarriesMore() const { return limits_.carriers != FrameLimits::Carriers::kStream; }
  void Take(Socket socket);
  void Watch();
  // Follows the rate of the connection; tells the queue and the kernel.
  void AdaptAhead();
  void ApplyAhead();
  // Calls recv, and hands on the descriptors that come along.
  [[nodiscard]] ssize_t ReceiveInto(std::span<std::byte> space);
  [[nodiscard]] ssize_t SendPieces(std::span<iovec> pieces, int descriptor) const;

  const ConnectionContext context_;
  Events& events_;
  FrameLimits limits_;
  bool over_unix_ = false;
  bool reading_ = true;
  bool waiting_ = false;
  TimePoint last_progress_;
  TimePoint last_received_ = TimePoint::min();
  SendAhead ahead_;
  SendQueue queue_;
  std::optional<wire::FrameReader> reader_;  // a new one with every socket
  Socket socket_;
  std::optional<EventLoop::Watch> watch_;  // ends before its socket
};

}  // namespace leeway
