#include "sim/workloads/churn_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/byte_cursor.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/rank_file.h"

namespace leeway::sim {
namespace {

constexpr std::uint64_t kAll = 1U << 30;

void CheckOne(const Disk& disk, const std::string& folder, const ChurnPlan& plan, ChurnBooks& books) {
  const auto bytes = disk.Read(JoinPath(folder, kManifestName), 0, kAll);
  const Result<Manifest> manifest =
      bytes.ok() ? ReadManifest({reinterpret_cast<const char*>(bytes->data()), bytes->size()})
                 : bytes.status();
  if (!manifest.ok()) return books.problems.push_back(manifest.status().WithContext(folder).ToString());
  ++books.counts.checkpoints;
  books.counts.states += manifest->ranks.size();
  books.counts.states_lacking += plan.job.workers - manifest->ranks.size();
  const bool exact = plan.job.apply.starts_with("aggregate") && plan.switches.empty();
  for (const ManifestRank& rank : manifest->ranks) {
    const std::string path = JoinPath(folder, rank.file);
    const auto file = disk.Read(path, 0, kAll);
    const Result<RankFile> read = file.ok() ? DecodeRankFile(*file) : file.status();
    if (!read.ok()) {
      books.problems.push_back(read.status().WithContext(path).ToString());
      continue;
    }
    const RankFileHead wanted{plan.job.job, manifest->checkpoint, rank.rank, rank.incarnation,
                              rank.iteration};
    const auto given = ChurnState(rank.rank.value(), rank.iteration, 0);
    if (read->head != wanted || read->checksum != rank.checksum || file->size() != rank.bytes ||
        !std::ranges::equal(*given, read->state.first(std::min(given->size(), read->state.size())))) {
      books.problems.push_back(fmt::format("{}: is not what its rank gave", path));
    }
    if (exact && rank.iteration != manifest->iteration) {
      books.problems.push_back(fmt::format("{}: is of iteration {}, wanted {}", path, rank.iteration.value(),
                                           manifest->iteration.value()));
    }
  }
}

}  // namespace

StateHabit DrawStateHabit(SeededRandom& random) {
  const std::uint64_t draw = random.Below(20);
  return draw == 0 ? StateHabit::kSilent : draw < 4 ? StateHabit::kNone : StateHabit::kGives;
}

std::shared_ptr<const std::vector<std::byte>> ChurnState(std::uint32_t rank, Iteration iteration,
                                                         std::size_t more) {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.Write(rank);
  writer.Write(iteration);
  bytes.resize(bytes.size() + more);
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

void CheckChurnStates(const Disk& disk, const ChurnPlan& plan, ChurnBooks& books) {
  const auto listed = disk.List(kChurnCheckpoints);
  if (!listed.ok()) return;  // the job was over before the first
  for (const std::uint64_t id : CheckpointIds(*listed)) {
    const std::string own = JoinPath(kChurnCheckpoints, CheckpointName(id));
    const auto files = disk.List(own);
    if (files.ok() && IsComplete(*files)) CheckOne(disk, own, plan, books);
  }
}

}  // namespace leeway::sim
