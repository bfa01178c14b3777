// SplitAt: the parts of a text between marks. "a,b" has two parts, "" has one, which is empty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leeway {

[[nodiscard]] inline std::vector<std::string> SplitAt(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace leeway
