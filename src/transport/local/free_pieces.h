// FreePieces: which parts of one stretch of memory are free. First fit, neighbours joined. Knows no memory.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace leeway {

class FreePieces {
 public:
  explicit FreePieces(std::size_t bytes) { free_[0] = bytes; }
  // The offset of `bytes` bytes that were free; nothing when no piece is large enough.
  [[nodiscard]] std::optional<std::size_t> Take(std::size_t bytes);
  // REQUIRES: taken, and not put back since.
  void PutBack(std::size_t offset, std::size_t bytes);

 private:
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes; no two touch
};

}  // namespace leeway
