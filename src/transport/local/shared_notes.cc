#include "transport/local/shared_notes.h"

#include <cstring>
#include <fstream>
#include <string>

#include "base/errors.h"

namespace leeway {
namespace {

// Packed, little-endian.
constexpr std::size_t kRegionNoteBytes = 4 + 8;
constexpr std::size_t kGreetingNoteBytes = 4 + 16 + 4 + 8 + 8;
constexpr std::size_t kPipeNoteBytes = 8;
constexpr std::size_t kPieceBytes = 4 + 4 + 8;

template <typename T>
void Put(std::vector<std::byte>& to, const T& value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

template <typename T>
void Get(std::span<const std::byte>& from, T& value) {
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::vector<std::byte> Encode(const RegionNote& note) {
  std::vector<std::byte> body;
  Put(body, note.region), Put(body, note.bytes);
  return body;
}

std::vector<std::byte> Encode(const GreetingNote& note) {
  std::vector<std::byte> body;
  Put(body, note.version), Put(body, note.host), Put(body, note.cell_region), Put(body, note.cell_offset),
      Put(body, note.session);
  return body;
}

std::vector<std::byte> Encode(const PipeNote& note) {
  std::vector<std::byte> body;
  Put(body, note.bytes);
  return body;
}

Result<RegionNote> DecodeRegionNote(std::span<const std::byte> body) {
  if (body.size() != kRegionNoteBytes)
    return Protocol("region note: got {} bytes, wanted {}", body.size(), kRegionNoteBytes);
  RegionNote note;
  Get(body, note.region), Get(body, note.bytes);
  return note;
}

Result<GreetingNote> DecodeGreetingNote(std::span<const std::byte> body) {
  if (body.size() != kGreetingNoteBytes)
    return Protocol("greeting: got {} bytes, wanted {}", body.size(), kGreetingNoteBytes);
  GreetingNote note;
  Get(body, note.version), Get(body, note.host), Get(body, note.cell_region), Get(body, note.cell_offset),
      Get(body, note.session);
  return note;
}

Result<PipeNote> DecodePipeNote(std::span<const std::byte> body) {
  if (body.size() != kPipeNoteBytes)
    return Protocol("pipe note: got {} bytes, wanted {}", body.size(), kPipeNoteBytes);
  PipeNote note;
  Get(body, note.bytes);
  return note;
}

void AppendTrailer(std::span<const SharedPiece> pieces, std::vector<std::byte>& body) {
  for (const SharedPiece& piece : pieces)
    Put(body, piece.region), Put(body, piece.bytes), Put(body, piece.offset);
  Put(body, static_cast<std::uint32_t>(pieces.size()));
}

Status TakeTrailer(std::span<const std::byte>& body, std::uint64_t payload_bytes,
                   std::vector<SharedPiece>& pieces) {
  std::uint32_t count = 0;
  if (body.size() < sizeof count)
    return Protocol("shared payload: a body of {} bytes has no trailer", body.size());
  std::span<const std::byte> last = body.last(sizeof count);
  Get(last, count);
  const std::size_t room = body.size() - sizeof count;
  if (count == 0 || count > room / kPieceBytes) {
    return Protocol("shared payload: got {} pieces, wanted 1 to {}, which the body has room for", count,
                    room / kPieceBytes);
  }
  std::span<const std::byte> from = body.subspan(room - count * kPieceBytes, count * kPieceBytes);
  pieces.resize(count);
  std::uint64_t bytes = 0;
  for (SharedPiece& piece : pieces) {
    Get(from, piece.region), Get(from, piece.bytes), Get(from, piece.offset);
    bytes += piece.bytes;
  }
  if (bytes != payload_bytes)
    return Protocol("shared payload: pieces of {} bytes, wanted the {} that the header announces", bytes,
                    payload_bytes);
  body = body.first(room - count * kPieceBytes);
  return Status::Ok();
}

Result<HostKey> ReadHostKey() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  HostKey key{};
  std::size_t digits = 0;
  for (const char c : text) {
    const int digit = HexDigit(c);
    if (digit < 0) continue;
    if (digits == 2 * key.size()) break;
    key[digits / 2] = static_cast<std::byte>(std::to_integer<int>(key[digits / 2]) * 16 + digit);
    ++digits;
  }
  if (digits != 2 * key.size()) return Unavailable("this system has no boot id: got \"{}\"", text);
  return key;
}

}  // namespace leeway
