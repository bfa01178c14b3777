// The workers' part of checkpoints: asking for their states, and what they answer.
#include <fmt/ranges.h>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"

namespace leeway {

void SchedulerNode::Core::AskForState(const WorkerSeat& seat) {
  if (!checkpoints_.under_way() || seat.connection == ConnectionId{}) return;
  const std::optional<wire::pb::Cut> cut = rank_states_.OpenFor(seat);
  if (cut) inbound_.SendControl(seat.connection, wire::Kind::kCut, *cut);
}

Status SchedulerNode::Core::TakeRankState(const WorkerSeat& seat, std::span<const std::byte> body) {
  wire::pb::RankState state;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kRankState, body, state));
  if (!checkpoints_.under_way() || checkpoints_.cut().checkpoint() != state.checkpoint()) return Status::Ok();
  // What one that is not waited for could not do holds nobody up.
  const bool awaited = rank_states_.OpenFor(seat).has_value();
  switch (rank_states_.Take(seat, state)) {
    case RankStates::Step::kTaken:
      TellShardsIfGiven();
      PublishIfWhole();
      break;
    case RankStates::Step::kTooLate:
      if (!awaited) break;
      files_.Discard(checkpoints_.cut().folder());
      checkpoints_.TooLate(Iteration(state.late()));
      BeginCheckpoint();
      break;
    case RankStates::Step::kFailed:
      if (awaited) GiveUpCheckpoint(fmt::format("worker {}: {}", seat.rank.value(), state.error()));
      break;
  }
  return Status::Ok();
}

void SchedulerNode::Core::PublishIfWhole() {
  if (!checkpoints_.written() || checkpoints_.publishing()) return;
  if (!rank_states_.Complete(members_.workers())) return;
  // Which batches of a dead worker are in it is not known yet.
  if (!ended_lives_.Pending().empty()) return;
  checkpoints_.Publish(env_.clock.Now());
  PublishCheckpoint();
}

std::string SchedulerNode::Core::WhoIsMissing() const {
  std::vector<std::string> missing;
  for (const ShardSeat& seat : members_.shards()) {
    if (!checkpoints_.replies().contains(seat.id))
      missing.push_back(fmt::format("server {} shard {}", seat.server.value(), seat.shard));
  }
  for (const WorkerId rank : rank_states_.Missing(members_.workers()))
    missing.push_back(fmt::format("the state of worker {}", rank.value()));
  for (const MemberKey life : ended_lives_.Pending())
    missing.push_back(fmt::format("what servers hold of worker {}, which is gone", life.worker.value()));
  return fmt::format("{}", fmt::join(missing, ", "));
}

}  // namespace leeway
