// SharedExchange: the shared memory of one local connection. Turns payloads that lie in our arena into
// places, and places that the peer sends into memory that can be read here.
//
// A payload stays pinned until the peer's ControlCell says that the peer is done with it; no message goes
// back for that. Lives and dies with its connection. Thread rule: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/pinned.h"
#include "leeway/status.h"
#include "leeway/witness.h"
#include "transport/local/byte_pipe.h"
#include "transport/local/control_cell.h"
#include "transport/local/peer_regions.h"
#include "transport/local/shared_arena.h"
#include "transport/local/shared_notes.h"
#include "transport/system/descriptor.h"

namespace leeway {

class SharedExchange {
 public:
  // Borrows `arena`. `host`: the boot id of this system; `session`: a random number; `peer_bytes_max`: of the
  // peer's memory that is mapped here.
  SharedExchange(const HostKey& host, SharedArena& arena, std::uint64_t session,
                 std::uint64_t peer_bytes_max);
  // Memory that the peer has not read is taken back, and marked as such first.
  ~SharedExchange();
  SharedExchange(const SharedExchange&) = delete;
  SharedExchange& operator=(const SharedExchange&) = delete;

  // A note to be sent before anything else that comes from here; with a descriptor or -1.
  struct Note {
    NoteKind kind = NoteKind::kRegion;
    std::vector<std::byte> body;
    int fd = -1;
  };
  // Our greeting, once. An error when this system gives no shared memory.
  [[nodiscard]] Result<std::vector<Note>> Greet();
  // A descriptor that came, in order. A peer that sends more than it names is broken.
  void TakeDescriptor(Descriptor fd);
  // Some came and are lost, of which the system takes in `at_once_max` with one call.
  void LoseDescriptors(std::size_t at_once_max);
  // Not ok: the peer broke the protocol beside the frames, and the connection has to end.
  [[nodiscard]] const Status& broken() const { return broken_; }
  [[nodiscard]] Status OnNote(NoteKind kind, std::span<const std::byte> body);
  // The peer has greeted: both ways may be used.
  [[nodiscard]] bool ready() const { return peer_cell_ != nullptr; }
  // Carries all frames that both ends send after their greetings. REQUIRES: ready.
  [[nodiscard]] BytePipe& pipe() { return *pipe_; }

  // Sending. False: not all of it lies in the arena, send the bytes. Else `notes` go first, and the
  // trailer is appended to `body`; the pins are kept here.
  [[nodiscard]] bool Refer(std::span<const Pinned> payload, std::vector<Note>& notes,
                           std::vector<std::byte>& body);
  // Lets go of what the peer is done with; true if it was something.
  bool Collect();
  [[nodiscard]] std::uint64_t pinned_bytes() const { return pinned_bytes_; }
  [[nodiscard]] std::size_t pinned_frames() const { return frames_.size(); }

  // Receiving: the pieces of a shared payload, as they lie. Takes the trailer off `body`.
  [[nodiscard]] Status Resolve(std::span<const std::byte>& body, std::uint64_t payload_bytes,
                               std::vector<std::span<const std::byte>>& views);
  // The frame that was resolved last is done with.
  void Consumed();
  // Of what the peer has sent.
  [[nodiscard]] Witness witness() const { return {&peer_cell_->session, peer_session_}; }

 private:
  // A frame of ours that the peer has not done with: how many pins it has in pins_, and of how many bytes.
  struct Frame {
    std::size_t pins = 0;
    std::uint64_t bytes = 0;
  };

  void Announce(std::uint32_t region, std::vector<Note>& notes);
  [[nodiscard]] Result<Descriptor> NextDescriptor(std::string_view what);
  // Makes our end when the first note of either side needs it. An error if the system gives no memory.
  [[nodiscard]] Status MakePipe();

  const HostKey host_;
  SharedArena& arena_;
  const std::uint64_t session_;
  std::shared_ptr<std::byte> cell_memory_;
  ControlCell* cell_ = nullptr;             // ours; in cell_memory_
  const ControlCell* peer_cell_ = nullptr;  // in peer_
  std::uint64_t peer_session_ = 0;
  PeerRegions peer_;
  std::unique_ptr<BytePipe> pipe_;
  Status why_no_pipe_;                  // not ok: it could not be made
  std::deque<Descriptor> descriptors_;  // not named yet
  Status broken_;
  std::uint32_t announced_ = 0;  // of our regions
  std::deque<Frame> frames_;
  std::deque<std::shared_ptr<const void>> pins_;  // shared: as in Pinned
  std::uint64_t collected_ = 0;                   // frames that the peer has done with
  std::uint64_t pinned_bytes_ = 0;
  std::vector<SharedPiece> pieces_;  // kept to reuse its memory
};

}  // namespace leeway
