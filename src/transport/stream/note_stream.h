// NoteStream: the socket beside a shared-memory connection, as that connection uses it: for notes, some with
// descriptors, and for bells. Thread rule: the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "leeway/status.h"
#include "transport/local/shared_notes.h"

namespace leeway {

class NoteStream {
 public:
  virtual ~NoteStream() = default;
  // Queues a note; with its first byte goes the descriptor `fd`, unless that is -1.
  virtual void PushNote(NoteKind kind, std::span<const std::byte> body, int fd) = 0;
  // Sends as many notes as the socket takes now. True: none is left.
  virtual bool FlushSocket() = 0;
  [[nodiscard]] virtual bool HasUnsent() const = 0;
  // Takes the notes that have come, while a frame of the pipe is read.
  [[nodiscard]] virtual Status ReadNotes() = 0;
};

}  // namespace leeway
