#include "transport/local/last_level_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace leeway {
namespace {

constexpr std::uint64_t kUsualBytes = 32U << 20;

// "512K", "32M": as the kernel writes it. 0: it says nothing of use.
std::uint64_t ReadSize(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  char unit = 0;
  if (!(file >> number)) return 0;
  file >> unit;
  switch (unit) {
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    case 'G':
      return number << 30;
    default:
      return unit == 0 ? number : 0;
  }
}

}  // namespace

std::uint64_t LastLevelCacheBytes(const std::string& folder) {
  std::uint64_t last = 0;  // each level is larger than the one before
  for (int index = 0;; ++index) {
    const std::string size = fmt::format("{}/index{}/size", folder, index);
    if (!std::ifstream(size).is_open()) break;
    last = std::max(last, ReadSize(size));
  }
  if (last > 0) return last;
  const long of_library = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return of_library > 0 ? static_cast<std::uint64_t>(of_library) : kUsualBytes;
}

}  // namespace leeway
