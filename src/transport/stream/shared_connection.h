// SharedConnection: frames through memory that two processes of one host share, with a socket beside it.
//
// Frames go through a ring of bytes (BytePipe); payloads that lie in the arena stay there, and the frame says
// where. The socket (NoteStream) carries notes, descriptors and bells only. The connection begins with the
// greeting; the pipe takes the place of the socket once both ends have greeted. Thread rule: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "transport/local/shared_exchange.h"
#include "transport/stream/connection_context.h"
#include "transport/stream/note_stream.h"
#include "transport/stream/send_queue.h"
#include "wire/frame.h"

namespace leeway {

class SharedConnection final : private wire::FrameSink {
 public:
  SharedConnection(const ConnectionContext& context, NoteStream& beside,
                   std::unique_ptr<SharedExchange> exchange);
  ~SharedConnection() override;

  // Returns the notes that greet the peer. An error: this system gives no shared memory.
  [[nodiscard]] Result<std::vector<SharedExchange::Note>> Greet() { return exchange_->Greet(); }
  // These two do as SocketConnection::Events says.
  void OnDescriptor(Descriptor fd) { exchange_->TakeDescriptor(std::move(fd)); }
  void OnDescriptorsLost(std::size_t at_once_max) { exchange_->LoseDescriptors(at_once_max); }
  // An error: the peer broke the protocol beside the frames, and the connection has to end.
  [[nodiscard]] const Status& CheckFrame() const { return exchange_->broken(); }
  // A note of the greeting has come, or one that announces a region. True: with it the peer has greeted.
  [[nodiscard]] Result<bool> OnNote(NoteKind kind, std::span<const std::byte> body);
  // Both ends have greeted. `queue` holds the frames that wait since before.
  void BeginPipe(SendQueue queue);
  // True: the pipe has begun. All below but SetLimits require it.
  [[nodiscard]] bool piped() const { return reader_.has_value(); }

  void SetLimits(const FrameLimits& limits);
  [[nodiscard]] bool HasBytes() const { return pipe_->HasBytes(); }
  // Reads the bytes in the pipe, at most a turn's worth. A turn's worth is more than the ring holds, so all
  // bytes that the peer wrote before it closed its socket are among them.
  [[nodiscard]] Status Read();
  // Wakes a peer that waits for room, after Read.
  void RingIfPeerWaits();
  // From now on no frame is handed on, and Read discards its bytes.
  void StopReading() { reading_ = false; }
  [[nodiscard]] bool AtFrameBoundary() const { return reader_->AtBoundary(); }
  // These two do as LoopInput says.
  [[nodiscard]] bool MaySleep() { return pipe_->MaySleep(); }
  void OnAwake() { pipe_->OnAwake(); }
  [[nodiscard]] TimePoint last_received() const { return last_received_; }
  // A frame has come whose payload lies in memory of the peer's.
  [[nodiscard]] Status OnSharedFrame(FrameHead head, std::span<const std::byte> body);

  void Send(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload);
  // Sends notes, then puts as much into the pipe as fits. True: the owner has to call it again in a turn of
  // its own.
  [[nodiscard]] bool Flush();
  // The peer has woken this end. True: frames wait, and there may be room for them now.
  [[nodiscard]] bool OnBell();
  // Drops the pins of payloads that the peer is done with.
  void Collect();
  // Returns an error if too many payloads wait for the peer to read them, and it has read none for long.
  [[nodiscard]] Status CheckPinned(const std::string& peer) const;
  // True: so much is queued that the peer should begin to work on it while this turn goes on.
  [[nodiscard]] bool HasEnough() const { return unflushed_bytes_ >= context_.options.turn_shared_bytes_max; }

  [[nodiscard]] const SendQueue& queue() const { return queue_; }
  void ClearQueue() { queue_.Clear(); }
  [[nodiscard]] std::uint64_t QueuedBytes() const { return queue_.bytes() + exchange_->pinned_bytes(); }
  // True: the queue waits for room in the pipe.
  [[nodiscard]] bool waiting() const { return waiting_; }
  // Returns when bytes last left, or the queue last began to fill.
  [[nodiscard]] TimePoint last_progress() const { return last_progress_; }

 private:
  // FrameSink.
  Result<Landing> OnFrameStart(const FrameHead& head, std::span<const std::byte> body) override;
  void OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) override;
  Status OnCarried(const FrameHead& head, std::span<const std::byte> body) override;
  [[nodiscard]] bool KeepReading() const override { return reading_; }

  // Puts the peer's pieces of the payload into views_. Takes the trailer off `body`.
  [[nodiscard]] Status Resolve(const FrameHead& head, std::span<const std::byte>& body);
  // Fills the places of `landing`, or lets it have the views.
  [[nodiscard]] Status Land(const FrameHead& head, Landing& landing);
  // Queues the frame with places instead of bytes; false if they are not in shared memory.
  [[nodiscard]] bool SendPlaces(std::uint8_t kind, std::span<const std::byte> body,
                                std::span<const Pinned> payload);
  // Collects also while nothing comes and nothing is sent.
  void CollectLater();
  // Wakes the peer.
  void Ring();

  const ConnectionContext context_;
  NoteStream& beside_;
  const std::unique_ptr<SharedExchange> exchange_;
  BytePipe* pipe_ = nullptr;                 // of exchange_
  std::optional<wire::FrameReader> reader_;  // of the pipe
  FrameLimits limits_;
  SendQueue queue_;  // to the pipe
  bool reading_ = true;
  bool waiting_ = false;
  bool bell_queued_ = false;  // in beside_, unless that is empty
  // Counts payloads whose frames are queued since the last flush.
  std::uint64_t unflushed_bytes_ = 0;
  TimePoint last_progress_;
  // When the peer was last seen to have done with shared memory, or first got some.
  TimePoint last_collected_;
  TimerId collect_timer_;
  TimePoint last_received_ = TimePoint::min();
  // These three are kept to reuse their memory.
  std::vector<SharedExchange::Note> notes_;
  std::vector<std::span<const std::byte>> views_;
  std::vector<std::byte> shared_body_;
};

}  // namespace leeway
