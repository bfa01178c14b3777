#include "transport/local/nontemporal_copy.h"

#include <algorithm>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "transport/local/last_level_cache.h"

namespace leeway {
namespace {

constexpr std::uint64_t kMostBytes = 16U << 20;

#if defined(__SSE2__)
constexpr std::size_t kLineBytes = 64;

// REQUIRES: `to` is the begin of a line.
void StreamLine(std::byte* to, const std::byte* from) {
  const auto* const source = reinterpret_cast<const __m128i*>(from);
  auto* const target = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
}
#endif

}  // namespace

void CopyNontemporal(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  const std::size_t into_line = reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::size_t head = std::min(into_line == 0 ? 0 : kLineBytes - into_line, bytes);
  std::memcpy(to, from, head);
  const std::size_t end = bytes - (bytes - head) % kLineBytes;
  for (std::size_t at = head; at < end; at += kLineBytes) StreamLine(to + at, from + at);
  std::memcpy(to + end, from + end, bytes - end);
  _mm_sfence();  // a release store waits for ordinary stores only
#else
  std::memcpy(to, from, bytes);
#endif
}

std::uint64_t NontemporalBytesMin(std::uint64_t last_level_cache_bytes) {
  return std::min(last_level_cache_bytes / 2, kMostBytes);
}

std::uint64_t NontemporalBytesMin() {
  static const std::uint64_t bytes = NontemporalBytesMin(LastLevelCacheBytes());  // the table is a few files
  return bytes;
}

}  // namespace leeway
