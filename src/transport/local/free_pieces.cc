#include "transport/local/free_pieces.h"

#include <iterator>

#include "base/check.h"

namespace leeway {

std::optional<std::size_t> FreePieces::Take(std::size_t bytes) {
  for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
    if (piece->second < bytes) continue;
    const auto [offset, size] = *piece;
    free_.erase(piece);
    if (size > bytes) free_[offset + bytes] = size - bytes;
    return offset;
  }
  return std::nullopt;
}

void FreePieces::PutBack(std::size_t offset, std::size_t bytes) {
  const auto after = free_.lower_bound(offset);
  LW_CHECK(after == free_.end() || offset + bytes <= after->first, "{} bytes at {} were free", bytes, offset);
  if (after != free_.end() && after->first == offset + bytes) {
    bytes += after->second;
    free_.erase(after);
  }
  const auto next = free_.lower_bound(offset);
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    LW_CHECK(before->first + before->second <= offset, "{} bytes at {} were free", bytes, offset);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_[offset] = bytes;
}

}  // namespace leeway
