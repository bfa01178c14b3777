// Any bytes as a note or as a trailer of the local transport: no crash, and an accepted one encodes to the
// same bytes.
#include "transport/local/shared_notes.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/check.h"
#include "fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto body = std::as_bytes(std::span(data, size)).subspan(1);
  const auto same = [&](const std::vector<std::byte>& again) { return std::ranges::equal(again, body); };
  switch (data[0] % 4) {
    case 0:
      if (const auto note = leeway::DecodeRegionNote(body); note.ok()) LW_CHECK(same(leeway::Encode(*note)));
      break;
    case 1:
      if (const auto note = leeway::DecodeGreetingNote(body); note.ok())
        LW_CHECK(same(leeway::Encode(*note)));
      break;
    case 2:
      if (const auto note = leeway::DecodePipeNote(body); note.ok()) LW_CHECK(same(leeway::Encode(*note)));
      break;
    default: {
      std::span<const std::byte> left = body;
      std::vector<leeway::SharedPiece> pieces;
      const std::uint64_t payload_bytes = data[0];
      if (!leeway::TakeTrailer(left, payload_bytes, pieces).ok()) break;
      std::uint64_t bytes = 0;
      for (const leeway::SharedPiece& piece : pieces) bytes += piece.bytes;
      LW_CHECK(bytes == payload_bytes && !pieces.empty());
      std::vector<std::byte> again(left.begin(), left.end());
      leeway::AppendTrailer(pieces, again);
      LW_CHECK(same(again));
    }
  }
  return 0;
}
