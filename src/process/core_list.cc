#include "process/core_list.h"

#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::size_t kCoresPerShard = 4;  // below this others want the core as well

Result<int> ParseCore(std::string_view text, std::string_view spec) {
  int core = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error != std::errc() || end != text.data() + text.size() || core < 0 || core >= CPU_SETSIZE) {
    return InvalidArgument("cores \"{}\": got \"{}\", wanted auto, none, or numbers and ranges such as 0-3,6",
                           spec, text);
  }
  return core;
}

Result<std::vector<int>> ParseList(std::string_view spec) {
  std::vector<int> cores;
  for (std::string_view left = spec;;) {
    const std::size_t comma = left.find(',');
    const std::string_view part = left.substr(0, comma);
    const std::size_t dash = part.find('-');
    LW_ASSIGN_OR_RETURN(const int first, ParseCore(part.substr(0, dash), spec));
    int last = first;
    if (dash != std::string_view::npos) {
      LW_ASSIGN_OR_RETURN(last, ParseCore(part.substr(dash + 1), spec));
    }
    if (last < first) return InvalidArgument("cores \"{}\": the range {} goes down", spec, part);
    for (int core = first; core <= last; ++core) cores.push_back(core);
    if (comma == std::string_view::npos) return cores;
    left = left.substr(comma + 1);
  }
}

}  // namespace

Result<std::vector<int>> CoresOf(std::string_view spec, std::uint32_t server, std::uint32_t shards,
                                 std::span<const int> allowed) {
  if (spec == "none") return std::vector<int>();
  std::vector<int> cores(allowed.begin(), allowed.end());
  if (spec == "auto") {
    if (allowed.size() < kCoresPerShard * (server + 1) * shards) return std::vector<int>();
  } else {
    LW_ASSIGN_OR_RETURN(cores, ParseList(spec));
    for (const int core : cores) {
      if (std::find(allowed.begin(), allowed.end(), core) == allowed.end())
        return InvalidArgument("cores \"{}\": this process may not run on core {}, wanted some of {}", spec,
                               core, fmt::join(allowed, ", "));
    }
  }
  // The servers before this one have the cores before.
  const std::size_t first = std::size_t{server} * shards;
  std::vector<int> of;
  for (std::size_t shard = 0; shard < shards; ++shard) of.push_back(cores[(first + shard) % cores.size()]);
  return of;
}

std::vector<int> AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

Status StayOn(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof(set), &set) == 0) return Status::Ok();
  return Unavailable("cannot stay on core {}: {}", core, std::generic_category().message(errno));
}

}  // namespace leeway
