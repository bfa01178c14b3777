#include "launch/role_restarts.h"

#include <fmt/format.h>

#include <algorithm>

namespace leeway::app {

std::optional<RoleRestarts::Next> RoleRestarts::Take(JobRole role, std::uint32_t index,
                                                     std::chrono::milliseconds lived, std::string& why_not) {
  const std::uint32_t limit = role == JobRole::kScheduler ? options_.scheduler : options_.servers;
  std::uint32_t& taken = taken_[role];
  History& history = histories_[{role, index}];
  const bool steady = lived >= options_.steady;
  history.quick = steady ? 0 : history.quick + 1;
  if (taken >= limit) {
    if (limit > 0) why_not = fmt::format("there were {} restarts already, which is the limit", limit);
    return std::nullopt;
  }
  if (history.quick > options_.quick_max) {
    why_not = fmt::format("it died {} times in a row soon after its start", history.quick);
    return std::nullopt;
  }
  ++taken;
  const bool first = history.back_off.count() == 0 || steady;
  history.back_off = first ? options_.back_off : std::min(2 * history.back_off, options_.back_off_max);
  return Next{history.back_off, fmt::format("restart {} of {}", taken, limit)};
}

}  // namespace leeway::app
