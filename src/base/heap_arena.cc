#include "base/heap_arena.h"

#include <cstdlib>

namespace leeway {
namespace {

constexpr std::size_t kCacheLine = 64;  // and the widest vector

}  // namespace

std::shared_ptr<std::byte> HeapArena::Allocate(std::size_t bytes, Use) {
  // aligned_alloc wants a multiple of the alignment, and a buffer of nothing still wants an address.
  const std::size_t rounded = (bytes + kCacheLine) / kCacheLine * kCacheLine;
  auto* const p = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, rounded));
  if (p == nullptr) return nullptr;
  return {p, [](std::byte* at) { std::free(at); }};
}

}  // namespace leeway
