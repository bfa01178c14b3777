// Footprint: lines of memory that something will look at when it happens. A hint for whoever knows that it
// will happen soon, and can have them in the cache by then. Only addresses: what was there may be gone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace leeway {

class Footprint {
 public:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t kLinesMax = 512;  // what is beyond is left out

  // The line that `at` is in; nothing for null.
  void AddLineOf(const void* at) { AddBytes(at, 1); }
  // All lines of an object, without what it points to.
  template <typename Object>
  void AddObject(const Object& object) {
    AddBytes(&object, sizeof(Object));
  }
  void AddBytes(const void* at, std::size_t bytes) {
    if (at == nullptr || bytes == 0) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    const std::uintptr_t last = (begin + bytes - 1) / kLineBytes;
    for (std::uintptr_t line = begin / kLineBytes; line <= last; ++line) Add(line * kLineBytes);
  }
  // From `at` up to the byte before `end`.
  void AddUpTo(const void* at, const void* end) {
    AddBytes(at, static_cast<std::size_t>(static_cast<const char*>(end) - static_cast<const char*>(at)));
  }
  [[nodiscard]] bool full() const { return size_ == kLinesMax; }
  // Their addresses.
  [[nodiscard]] std::span<const std::uintptr_t> lines() const { return std::span(lines_).first(size_); }

 private:
  void Add(std::uintptr_t line) {
    // Things that lie together are named one after the other.
    const bool known = size_ > 0 && lines_[size_ - 1] == line;
    if (!known && !full()) lines_[size_++] = line;
  }

  std::array<std::uintptr_t, kLinesMax> lines_;  // the first size_ of them are set
  std::size_t size_ = 0;
};

}  // namespace leeway
