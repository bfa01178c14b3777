#include "sim/flow/payload_views.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace leeway::sim {
namespace {

constexpr std::size_t kViewAlignment = 4;

}  // namespace

bool IsReadable(std::span<const std::byte> view) {
  const auto address = reinterpret_cast<std::uintptr_t>(view.data());
  return address % kViewAlignment == 0 && view.size() % kViewAlignment == 0;
}

void CopyInto(std::span<const std::span<std::byte>> places,
              std::span<const std::span<const std::byte>> views) {
  std::size_t place = 0, filled = 0;
  for (std::span<const std::byte> view : views) {
    while (!view.empty()) {
      if (filled == places[place].size()) {
        ++place;
        filled = 0;
        continue;
      }
      const std::size_t n = std::min(view.size(), places[place].size() - filled);
      std::memcpy(places[place].data() + filled, view.data(), n);
      filled += n;
      view = view.subspan(n);
    }
  }
}

}  // namespace leeway::sim
