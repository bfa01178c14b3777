// The notes that the two ends of a local connection send each other beside frames, and the trailer of a frame
// whose payload lies in shared memory. Pure functions on bytes; docs/protocol.md has them as tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "leeway/status.h"

namespace leeway {

// The kinds of notes: the kind in a header with wire::kNote.
enum class NoteKind : std::uint8_t {
  kRegion = 1,
  kGreeting = 2,
  kPlain = 3,  // answers a greeting where no memory can be shared: all goes through the socket
  kPipe =
      4,  // before the greeting: what comes after it comes through this pipe, whose descriptor comes along
  kBell = 5,  // there is something in the pipe, or room
};

inline constexpr std::uint32_t kLocalVersion = 2;
using HostKey = std::array<std::byte, 16>;  // the kernel's boot id

// A region of the sender's arena; its descriptor comes with it.
struct RegionNote {
  std::uint32_t region = 0;
  std::uint64_t bytes = 0;
};
// Of each end, after its first regions and its pipe: who it is, and where its ControlCell lies.
struct GreetingNote {
  std::uint32_t version = kLocalVersion;
  HostKey host{};
  std::uint32_t cell_region = 0;
  std::uint64_t cell_offset = 0;
  std::uint64_t session = 0;  // what the cell holds while the connection stands
};
// The memory of the sender's end of a BytePipe.
struct PipeNote {
  std::uint64_t bytes = 0;
};
// One piece of a shared payload.
struct SharedPiece {
  std::uint32_t region = 0;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
};

[[nodiscard]] std::vector<std::byte> Encode(const RegionNote& note);
[[nodiscard]] std::vector<std::byte> Encode(const GreetingNote& note);
[[nodiscard]] std::vector<std::byte> Encode(const PipeNote& note);
[[nodiscard]] Result<RegionNote> DecodeRegionNote(std::span<const std::byte> body);
[[nodiscard]] Result<GreetingNote> DecodeGreetingNote(std::span<const std::byte> body);
[[nodiscard]] Result<PipeNote> DecodePipeNote(std::span<const std::byte> body);

// Appends the pieces and their number to a frame's body.
void AppendTrailer(std::span<const SharedPiece> pieces, std::vector<std::byte>& body);
// Takes the trailer off `body`. The pieces have `payload_bytes` together, or it is an error.
[[nodiscard]] Status TakeTrailer(std::span<const std::byte>& body, std::uint64_t payload_bytes,
                                 std::vector<SharedPiece>& pieces);

// The boot id of this host; an error where the system has none.
[[nodiscard]] Result<HostKey> ReadHostKey();

}  // namespace leeway
