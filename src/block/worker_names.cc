#include "block/worker_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace leeway {
namespace {

constexpr std::size_t kNamesMax = 8;

}  // namespace

std::string WorkerNames(std::span<const WorkerId> workers) {
  std::vector<std::uint32_t> named;
  for (const WorkerId worker : workers.first(std::min(workers.size(), kNamesMax)))
    named.push_back(worker.value());
  std::string names = fmt::format("worker{} {}", workers.size() == 1 ? "" : "s", fmt::join(named, ", "));
  if (workers.size() > named.size()) names += fmt::format(" and {} more", workers.size() - named.size());
  return names;
}

}  // namespace leeway
