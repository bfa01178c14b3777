// What waits in a block for whom, for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "block/block_core.h"

namespace leeway {

namespace {

// What WhyWaiting says is for people, and goes to the scheduler with every beat.
constexpr std::size_t kWaitsNamed = 3;
constexpr std::size_t kWorkersNamed = 8;
constexpr std::size_t kWhyBytesMax = 512;

// "worker 2", "workers 1, 2, 5 and 60 more".
std::string Names(const std::vector<WorkerId>& workers) {
  std::vector<std::uint32_t> named;
  for (const WorkerId worker : std::span(workers).first(std::min(workers.size(), kWorkersNamed)))
    named.push_back(worker.value());
  std::string names = fmt::format("worker{} {}", workers.size() == 1 ? "" : "s", fmt::join(named, ", "));
  if (workers.size() > named.size()) names += fmt::format(" and {} more", workers.size() - named.size());
  return names;
}

}  // namespace

std::string Block::Core::WhyWaiting() const {
  const std::vector<PullEvent> waiting = pulls_.List();
  if (waiting.empty()) return "";
  // Those of one progress that wait for one thing are named together.
  std::map<std::pair<Iteration, Epoch>, std::vector<WorkerId>> waits;
  for (const PullEvent& pull : waiting)
    waits[{pull.progress, std::max(pull.epoch_min, epoch_)}].push_back(pull.from.worker);
  const auto reason = [&, lacks = Names(progress_.Missing())](Iteration progress, Epoch epoch) {
    if (!values_.initialized()) return std::string("for initial values");
    if (epoch_ < epoch) return fmt::format("for epoch {} (now {})", epoch.value(), epoch_.value());
    const Iteration open = progress_.v_train();
    if (sync_->release == Release::kLazy && progress > open) {
      return fmt::format("for iteration {} to end; {} is open and lacks {}", progress.value(), open.value(),
                         lacks);
    }
    return fmt::format("for iteration {} to end, which lacks {}", open.value(), lacks);
  };
  std::string why;
  std::size_t named = 0;
  for (const auto& [what, who] : waits) {
    if (named++ == kWaitsNamed) break;
    why += fmt::format("{}{} wait{} with progress {} {}", why.empty() ? "" : "; ", Names(who),
                       who.size() == 1 ? "s" : "", what.first.value(), reason(what.first, what.second));
  }
  if (waits.size() > kWaitsNamed)
    why += fmt::format("; and {} more of other progress", waits.size() - kWaitsNamed);
  if (why.size() > kWhyBytesMax) why.replace(kWhyBytesMax - 3, std::string::npos, "...");
  return why;
}

}  // namespace leeway
