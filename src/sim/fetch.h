// Fetch: has memory brought into the cache, without waiting for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "leeway/footprint.h"

namespace leeway::sim {

// The empty statement is one that a compiler may not leave out. To g++ 12 a prefetch has no effect, and so it
// leaves out calls of functions that do nothing else.
inline void FetchLineOf(const void* at) {
  __builtin_prefetch(at);
  asm volatile("");
}

inline void FetchLines(std::span<const std::uintptr_t> lines) {
  for (const std::uintptr_t line : lines) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read by it
    FetchLineOf(reinterpret_cast<const void*>(line));
  }
}

template <typename T>
void Fetch(const T& object) {
  const auto* const at = reinterpret_cast<const char*>(&object);
  for (std::size_t i = 0; i < sizeof(T); i += Footprint::kLineBytes) FetchLineOf(at + i);
}

}  // namespace leeway::sim
