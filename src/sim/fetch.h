// Fetch: has memory brought into the cache, without waiting for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "leeway/footprint.h"

namespace leeway::sim {

inline void FetchLines(std::span<const std::uintptr_t> lines) {
  for (const std::uintptr_t line : lines) __builtin_prefetch(reinterpret_cast<const void*>(line));
}

template <typename T>
void Fetch(const T& object) {
  const auto* const at = reinterpret_cast<const char*>(&object);
  for (std::size_t i = 0; i < sizeof(T); i += Footprint::kLineBytes) __builtin_prefetch(at + i);
}

}  // namespace leeway::sim
