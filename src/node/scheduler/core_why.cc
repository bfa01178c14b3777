// A worker that has waited for long asks why.
#include <algorithm>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"
#include "node/seconds.h"

namespace leeway {
namespace {

constexpr std::size_t kStandingsMax = 16;

}  // namespace

Status SchedulerNode::Core::TakeWhy(ConnectionId id, const WorkerSeat& asks,
                                    std::span<const std::byte> body) {
  wire::pb::Why why;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kWhy, body, why));
  wire::pb::WhyReply reply;
  reply.set_request(why.request());
  if (!members_.gathered())
    reply.set_not_here(prepared_ ? members_.Missing() : "the checkpoint to begin from");
  std::vector<WorkerId> ranks;
  if (why.at_barrier()) ranks = barriers_.Missing(why.barrier(), asks.rank, BarrierMembers());
  for (const WorkerId rank : ranks) reply.add_missing(rank.value());
  for (const std::uint32_t rank : why.ranks()) ranks.emplace_back(rank);
  HearConnected();
  const TimePoint now = env_.clock.Now();
  for (const WorkerId rank : ranks) {
    if (rank.index() >= members_.workers().size() ||
        reply.standings_size() >= static_cast<int>(kStandingsMax))
      continue;
    const WorkerSeat& seat = members_.workers()[rank.index()];
    wire::pb::Standing& standing = *reply.add_standings();
    standing.set_rank(rank.value());
    standing.set_state(WorkerStateName(seat.state));
    standing.set_silent_s(Seconds(now - seat.last_heard));
    standing.set_host(seat.host);
    standing.set_pid(seat.pid);
    if (const auto idle = waits_.IdleFor(rank, now)) standing.set_idle_s(Seconds(*idle));
    const auto report = reports_.workers.find(rank);
    standing.set_iteration(report == reports_.workers.end() ? -1 : report->second.iteration().value());
    if (report != reports_.workers.end()) standing.set_waiting_for(report->second.waiting_for());
  }
  inbound_.SendControl(id, wire::Kind::kWhyReply, reply);
  return Status::Ok();
}

std::vector<Barriers::Member> SchedulerNode::Core::BarrierMembers() const {
  std::vector<Barriers::Member> members;
  for (const WorkerSeat& seat : members_.workers()) {
    if (seat.counted()) members.push_back({seat.rank, seat.Began()});
  }
  return members;
}

}  // namespace leeway
