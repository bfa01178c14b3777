#include "node/scheduler/job_peers.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"

namespace leeway {
namespace {

// A monitor asks several times a second: one that has read nothing for so many requests never will.
constexpr std::uint32_t kUnreadRequestsMax = 100;
// A ping that is on its way is no answer that nobody reads. Without this a monitor that asks as often as the
// scheduler pings it meets a ping each time, and is never answered.
constexpr std::uint64_t kUnreadBytes = 256;

}  // namespace

JobPeers::JobPeers(Env& env, const SchedulerOptions& options, std::size_t shards,
                   std::function<wire::pb::Roster()> roster, InboundEvents& events)
    : env_(env),
      monitors_max_(options.monitors_max),
      roster_(std::move(roster)),
      acks_(shards),
      notices_(env.timers, options.job.workers, [this](wire::pb::Role role) { SendRosterTo(role); }),
      inbound_(env, options.link, options.job.job, events) {}

Status JobPeers::Listen(const std::string& address) {
  LW_ASSIGN_OR_RETURN(address_, inbound_.Listen(address));
  return Status::Ok();
}

void JobPeers::Remove(ConnectionId id) {
  peers_.erase(id);
  acks_.Forget(id);
}

void JobPeers::CloseAll(const Status& why) {
  inbound_.EndHold(false);
  inbound_.CloseAll(why);
  peers_.clear();  // nobody is connected any more: the status may still be asked for
}

Status JobPeers::CheckMonitors() const {
  const auto monitors = std::ranges::count_if(
      peers_, [](const auto& entry) { return entry.second.role == wire::pb::ROLE_MONITOR; });
  if (monitors < monitors_max_) return Status::Ok();
  return ResourceExhausted(
      "{} monitors are connected, and no more than {} may be at a time (monitors_max): end one that is not "
      "needed, or ask again later",
      monitors, monitors_max_);
}

Result<bool> JobPeers::MayAnswerStatus(ConnectionId id) {
  // One answer at a time: it is large, and it is the same for all requests that come meanwhile.
  if (inbound_.IsHeldFor(id)) return false;
  Peer& peer = peers_.at(id);
  if (env_.transport.QueuedBytes(id) > kUnreadBytes) {
    if (++peer.unread <= kUnreadRequestsMax) return false;
    return ResourceExhausted(
        "{} status requests came, and the answer to an earlier one is still unread; at most {} may",
        peer.unread, kUnreadRequestsMax);
  }
  peer.unread = 0;
  return true;
}

void JobPeers::HearConnected(Membership& members) const {
  // Never back: a pause that was forgiven stays so.
  const auto hear = [this](auto& seat, ConnectionId id) {
    seat.last_heard = std::max(seat.last_heard, inbound_.last_heard(id));
  };
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_WORKER) hear(members.workers()[peer.seat], id);
    if (peer.role == wire::pb::ROLE_SERVER) hear(members.shards()[peer.seat], id);
  }
}

void JobPeers::Send(ConnectionId to, wire::Kind kind, const Message& message) {
  inbound_.SendControl(to, kind, message);
}

void JobPeers::SendToShards(wire::Kind kind, const Message& message) {
  std::map<std::size_t, ConnectionId> shards;
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_SERVER) shards[peer.seat] = id;
  }
  const auto body = ControlBody(message);
  for (const auto& [shard, id] : shards) inbound_.Send(id, kind, body);
}

void JobPeers::SendToMembers(wire::Kind kind, const Message& for_shards, const Message& for_workers) {
  const auto to_shards = ControlBody(for_shards);
  const auto to_workers = ControlBody(for_workers);
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_MONITOR) continue;
    inbound_.Send(id, kind, peer.role == wire::pb::ROLE_SERVER ? to_shards : to_workers);
  }
}

void JobPeers::SendToAll(wire::Kind kind, const Message& message) {
  const auto body = ControlBody(message);
  for (const auto& [id, peer] : peers_) inbound_.Send(id, kind, body);
}

void JobPeers::SendRosterTo(wire::pb::Role role) {
  notices_.OnTold(role);
  const auto roster = ControlBody(roster_());
  for (const auto& [id, peer] : peers_) {
    if (peer.role == role) inbound_.Send(id, wire::Kind::kRoster, roster);
  }
}

void JobPeers::SendRosterToOthers(ConnectionId than) {
  notices_.OnTold(wire::pb::ROLE_SERVER);
  notices_.OnTold(wire::pb::ROLE_WORKER);
  const auto roster = ControlBody(roster_());
  for (const auto& [id, peer] : peers_) {
    if (peer.role != wire::pb::ROLE_MONITOR && id != than) inbound_.Send(id, wire::Kind::kRoster, roster);
  }
}

void JobPeers::TellShardsOfGone() {
  if (notices_.shards_untold()) SendRosterTo(wire::pb::ROLE_SERVER);
}

Epoch JobPeers::NextEpoch() {
  TellShardsOfGone();
  return ++epoch_;
}

void JobPeers::WhenAcked(Epoch epoch, ConnectionId whose, std::function<void()> then) {
  acks_.When(epoch, whose, std::move(then));
}

}  // namespace leeway
