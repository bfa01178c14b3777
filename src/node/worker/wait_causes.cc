#include "node/worker/wait_causes.h"

#include <fmt/format.h>

#include <algorithm>

namespace leeway {

std::string_view WaitCauses::ShortName(std::string_view name) {
  std::size_t end = std::min(name.size(), kNameBytesMax);
  const auto continues = [name](std::size_t at) {
    return (static_cast<unsigned char>(name[at]) & 0xC0U) == 0x80U;
  };
  while (end > 0 && end < name.size() && continues(end)) --end;
  return name.substr(0, end);
}

std::uint64_t& WaitCauses::Of(std::map<std::string, std::uint64_t>& causes, std::string_view kind,
                              std::string_view name) {
  std::string key = fmt::format("{}.{}", kind, ShortName(name));
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
