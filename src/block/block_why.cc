// What waits in a block for whom, for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "block/block_core.h"

namespace leeway {

namespace {

// What WhyWaiting says is for people, and goes to the scheduler with every beat.
constexpr std::size_t kWaitersNamed = 3;
constexpr std::size_t kMissingNamed = 8;
constexpr std::size_t kWhyBytesMax = 512;

// "1, 2, 5 and 60 more".
std::string NameSome(const std::vector<WorkerId>& workers) {
  std::vector<std::uint32_t> named;
  for (const WorkerId worker : std::span(workers).first(std::min(workers.size(), kMissingNamed)))
    named.push_back(worker.value());
  const std::string names = fmt::format("{}", fmt::join(named, ", "));
  return workers.size() > named.size() ? fmt::format("{} and {} more", names, workers.size() - named.size())
                                       : names;
}

}  // namespace

std::string Block::Core::WhyWaiting() const {
  const std::vector<PullEvent> waiting = pulls_.List();
  if (waiting.empty()) return "";
  const std::string lacks = NameSome(progress_.Missing());
  std::string why;
  for (const PullEvent& pull : std::span(waiting).first(std::min(waiting.size(), kWaitersNamed))) {
    if (!why.empty()) why += "; ";
    why += fmt::format("worker {} waits with progress {} ", pull.from.worker.value(), pull.progress.value());
    if (!values_.initialized()) {
      why += "for initial values";
    } else if (epoch_ < pull.epoch_min) {
      why += fmt::format("for epoch {} (now {})", pull.epoch_min.value(), epoch_.value());
    } else {
      why +=
          fmt::format("for iteration {} to end, which lacks workers {}", progress_.v_train().value(), lacks);
    }
  }
  if (waiting.size() > kWaitersNamed) why += fmt::format("; {} more wait", waiting.size() - kWaitersNamed);
  if (why.size() > kWhyBytesMax) why.replace(kWhyBytesMax - 3, std::string::npos, "...");
  return why;
}

}  // namespace leeway
