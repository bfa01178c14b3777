#include "node/scheduler/rank_states.h"

#include <algorithm>

#include "checkpoint/layout.h"

namespace leeway {

void RankStates::Begin(const wire::pb::Cut& cut, Moment moment) {
  answers_.clear();
  asks_ = moment != Moment::kNone;
  cut_ = cut;
  cut_.set_exact(moment == Moment::kExact);
  if (moment == Moment::kNearby && cut.soon()) cut_.set_iteration(0);
}

std::optional<wire::pb::Cut> RankStates::OpenFor(const WorkerSeat& seat) const {
  // A worker that has left still gives the state with which it passed the cut, until it is gone.
  const bool there = seat.live() || (seat.state == WorkerState::kLeft && !seat.done);
  if (!asks_ || !there || seat.joining) return std::nullopt;
  const bool joined_beyond = cut_.exact() && seat.first > Iteration(cut_.iteration());
  if (joined_beyond) return std::nullopt;
  const auto found = answers_.find(seat.rank);
  if (found != answers_.end() && found->second.incarnation == seat.incarnation) return std::nullopt;
  return cut_;
}

RankStates::Step RankStates::Take(const WorkerSeat& seat, const wire::pb::RankState& state) {
  if (state.checkpoint() != cut_.checkpoint()) return Step::kTaken;
  if (state.late() > 0) return Step::kTooLate;
  if (!state.error().empty()) return Step::kFailed;
  Answer answer{seat.incarnation, state.lacks(), std::nullopt};
  if (!state.none()) {
    answer.written = ManifestRank{seat.rank,    seat.incarnation, Iteration(state.iteration()),
                                  state.file(), state.bytes(),    state.checksum()};
  }
  answers_[seat.rank] = std::move(answer);
  return Step::kTaken;
}

bool RankStates::AnyLacks() const {
  return std::ranges::any_of(answers_, [](const auto& answer) { return answer.second.lacks; });
}

bool RankStates::Complete(const std::vector<WorkerSeat>& workers) const { return Missing(workers).empty(); }

std::vector<WorkerId> RankStates::Missing(const std::vector<WorkerSeat>& workers) const {
  std::vector<WorkerId> missing;
  for (const WorkerSeat& seat : workers) {
    if (OpenFor(seat)) missing.push_back(seat.rank);
  }
  return missing;
}

std::vector<ManifestRank> RankStates::Written() const {
  std::vector<ManifestRank> written;
  for (const auto& [rank, answer] : answers_) {
    if (answer.written) written.push_back(*answer.written);
  }
  return written;
}

std::vector<wire::pb::RankRestore> RankRestores(const Manifest& manifest, const std::string& path) {
  std::vector<wire::pb::RankRestore> restores(manifest.incarnations.size());
  for (const ManifestRank& rank : manifest.ranks) {
    wire::pb::RankRestore& restore = restores[rank.rank.index()];
    restore.set_file(JoinPath(path, rank.file));
    restore.set_bytes(rank.bytes);
    restore.set_checksum(rank.checksum);
  }
  return restores;
}

}  // namespace leeway
