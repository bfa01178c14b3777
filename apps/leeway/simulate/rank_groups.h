// RankGroup: neighbouring workers or servers that share a row of a map or a bar, where there are too many to
// show each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace leeway::app {

struct RankGroup {
  std::uint32_t first = 0, end = 0;  // ranks first to before end
  [[nodiscard]] std::string NameOf(const char* what) const {
    return end - first < 2 ? fmt::format("{} {}", what, first)
                           : fmt::format("{}s {} to {}", what, first, end - 1);
  }
};

// At most `groups_max` groups, all but the last of one size.
[[nodiscard]] inline std::vector<RankGroup> RankGroups(std::uint32_t count, std::uint32_t groups_max) {
  std::vector<RankGroup> groups;
  const std::uint32_t size = std::max(1U, (count + groups_max - 1) / groups_max);
  for (std::uint32_t first = 0; first < count; first += size)
    groups.push_back({.first = first, .end = std::min(first + size, count)});
  return groups;
}

}  // namespace leeway::app
