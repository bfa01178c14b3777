#include "node/worker/wait_causes.h"

#include <fmt/format.h>

#include <algorithm>

namespace leeway {

std::uint64_t& WaitCauses::Of(std::map<std::string, std::uint64_t>& causes, std::string_view kind,
                              std::string_view name) {
  std::string key = fmt::format("{}.{}", kind, name.substr(0, kNameBytesMax));
  if (!causes.contains(key)) {
    const std::string prefix = fmt::format("{}.", kind);
    const auto of_kind = std::ranges::count_if(
        causes, [&prefix](const auto& entry) { return entry.first.starts_with(prefix); });
    if (static_cast<std::size_t>(of_kind) >= kCausesMax) key = prefix + "others";
  }
  return causes[key];
}

void WaitCauses::Add(std::map<std::string, std::uint64_t>& causes, std::string_view kind,
                     std::string_view name, Duration waited) {
  if (waited > Duration::zero()) Of(causes, kind, name) += static_cast<std::uint64_t>(waited.count());
}

}  // namespace leeway
