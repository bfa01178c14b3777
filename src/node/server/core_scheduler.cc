// What a shard says to the scheduler, and what it does at its word.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/host_text.h"
#include "leeway/arena.h"
#include "leeway/storage.h"
#include "node/control_frame.h"
#include "node/server/core.h"
#include "node/server/firsts.h"
#include "node/server/held_tally.h"

namespace leeway {

wire::pb::Hello ServerNode::Core::MakeHello(std::uint32_t) {
  wire::pb::Hello hello;
  hello.set_job(options_.job);
  hello.set_role(wire::pb::ROLE_SERVER);
  hello.set_life(life_);
  hello.set_incarnation(welcomed_ ? 1 : 0);
  hello.set_server(options_.server);
  hello.set_shard(options_.shard);
  hello.set_listen(address_);
  return hello;
}

void ServerNode::Core::OnUp(std::uint32_t, const wire::pb::Welcome& welcome) {
  if (const Status reached = CheckReach(welcome.host_key()); !reached.ok()) return End(reached);
  welcomed_ = true;
  place_ = {ShardId(welcome.id()), ServerId(options_.server), welcome.job().seed()};
  Report();
}

// A scheduler on another machine hands `address_` to workers there, for whom a loopback address is their own
// machine.
Status ServerNode::Core::CheckReach(const std::string& scheduler_host) const {
  const std::string_view here = env_.transport.Host();
  const bool remote = !scheduler_host.empty() && !here.empty() && scheduler_host != here;
  if (!remote || !IsLoopbackHost(HostOfAddress(address_))) return Status::Ok();
  return InvalidArgument(
      "server {} listens at {}, which only this machine can reach, and the scheduler at {} is on another; "
      "wanted the address by which workers reach this machine: --listen HOST:0 --bind-any",
      options_.server, address_, options_.scheduler);
}

void ServerNode::Core::OnDown(std::uint32_t, const Status& why) {
  env_.timers.Cancel(std::exchange(report_timer_, {}));
  env_.log.Write(LogLevel::kWarning, fmt::format("scheduler lost, reconnecting: {}", why.message()));
}

Result<Landing> ServerNode::Core::OnFrameStart(std::uint32_t, const FrameHead& head,
                                               std::span<const std::byte>) {
  return Protocol("{} from the scheduler with a payload of {} bytes, wanted none",
                  wire::KindName(static_cast<wire::Kind>(head.kind)), head.payload_bytes);
}

void ServerNode::Core::OnFrame(std::uint32_t, const FrameHead& head, std::span<const std::byte> body,
                               Landing&&) {
  Status taken;
  switch (const auto kind = static_cast<wire::Kind>(head.kind); kind) {
    case wire::Kind::kRoster:
      taken = TakeRoster(body);
      break;
    case wire::Kind::kTableMap:
      taken = TakeMap(body);
      break;
    case wire::Kind::kCut:
      taken = TakeCut(body);
      break;
    case wire::Kind::kJobEnd:
      taken = TakeJobEnd(body);
      break;
    default:
      taken = Protocol("{} from the scheduler, wanted Roster, TableMap, Cut or JobEnd", wire::KindName(kind));
  }
  // A shard that cannot follow the scheduler would hold up the job: it says why and ends.
  if (!taken.ok()) End(taken);
}

Status ServerNode::Core::TakeRoster(std::span<const std::byte> body) {
  google::protobuf::Arena arena;  // of a large job there are many members
  auto& roster = *google::protobuf::Arena::CreateMessage<wire::pb::Roster>(&arena);
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kRoster, body, roster));
  const std::uint64_t fences = roster_.fences();
  if (roster_.Take(roster)) {
    if (roster_.fences() != fences) CloseFenced();
    TellAllMembers();
  }
  Acknowledge(roster.epoch());
  return Status::Ok();
}

void ServerNode::Core::CloseFenced() {
  for (const ConnectionId id : sessions_.All()) {
    const MemberKey who = *sessions_.Find(id);
    const Status life = roster_.CheckLife(who);
    if (life.ok()) continue;
    sessions_.Remove(id);
    inbound_.Close(id, life);
    ForgetPulls(who);
  }
}

Status ServerNode::Core::TakeMap(std::span<const std::byte> body) {
  wire::pb::TableMap map;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kTableMap, body, map));
  if (map.has_tables_kept()) DropTables(map.tables_kept());
  LW_ASSIGN_OR_RETURN(const BlockStore::Taken taken, blocks_.Take(map, place_, env_.clock.Now()));
  for (const BlockStore::Refused& refused : taken.refused) {
    env_.log.Write(LogLevel::kError, refused.why.message());
    refused_.push_back(refused);
  }
  PrepareFirstVersions(taken.created);
  for (Block* block : taken.created) TellMembers(*block);
  for (const BlockStore::ToRestore& block : taken.to_restore) restores_.Begin(block);
  if (!taken.switched.empty()) {
    env_.log.Write(LogLevel::kInfo,
                   fmt::format("{} tables have other synchronization now, the first: {}",
                               taken.switched.size(), blocks_.SyncOf(taken.switched.front())));
  }
  Flush();
  if (map.epoch() > 0) Acknowledge(map.epoch());
  return Status::Ok();
}

void ServerNode::Core::DropTables(std::uint32_t kept) {
  if (blocks_.DropFrom(TableId(kept)) == 0) return;
  cut_.Abandon(Unavailable("tables were withdrawn while it was written"));
}

void ServerNode::Core::PrepareFirstVersions(std::span<Block* const> created) {
  // The last block's first: initial values come in order, and the two meet in the middle.
  for (std::size_t i = created.size(); i-- > 0;) {
    const BufferRef first = created[i]->reserved();
    std::function<void()> work = env_.arena.Prepare(first->bytes());
    if (!work) continue;
    env_.compute.Run(std::move(work), [first] {});  // which keeps it until then
  }
}

Status ServerNode::Core::TakeCut(std::span<const std::byte> body) {
  wire::pb::Cut cut;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kCut, body, cut));
  if (restores_.empty()) {
    cut_.Begin(cut, options_.job, place_.shard);
  } else {
    cut_later_ = cut;  // without the blocks that are being read it would be nothing
  }
  return Status::Ok();
}

void ServerNode::Core::OnAllRestored() {
  if (over_) return;
  AcknowledgeWhatWaits();
  if (const auto cut = std::exchange(cut_later_, std::nullopt)) {
    cut_.Begin(*cut, options_.job, place_.shard);
  }
}

Status ServerNode::Core::TakeJobEnd(std::span<const std::byte> body) {
  wire::pb::JobEnd end;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kJobEnd, body, end));
  SendReport();  // the job's summary counts what came since the last beat
  End(end.code() == 0 ? Status::Ok() : StatusFromWire(end.code(), end.message()));
  return Status::Ok();
}

void ServerNode::Core::TellMembers(Block& block) {
  // A block that was saved with members would take an empty roster for the death of all.
  if (roster_.epoch() == Epoch(0)) return;
  const auto members = blocks_.IsOwnClock(block) ? roster_.own_clock_members() : roster_.members();
  block.OnMembers(roster_.epoch(), takeover_.Known(block, members, roster_), env_.clock.Now());
}

void ServerNode::Core::TellAllMembers() {
  for (const auto& block : blocks_.all()) TellMembers(*block);
  Flush();
}

void ServerNode::Core::Acknowledge(std::uint64_t epoch) {
  // An acknowledgement covers all before it, blocks that are still being read among them.
  const bool unsettled = !takeover_.empty() && !roster_.joining().empty();
  if (!restores_.empty() || (unsettled && !takeover_.IsSettled(roster_))) {
    acknowledge_later_ = std::max(acknowledge_later_, epoch);
    return;
  }
  if (unsettled) TellAllMembers();
  wire::pb::EpochAck ack;
  ack.set_epoch(epoch);
  for (const MemberKey joining : roster_.joining()) AddFirsts(blocks_, joining, ack);
  HeldTally held;
  for (const MemberKey ended : roster_.ended()) held.Add(blocks_, ended);
  held.FillInto(*ack.mutable_held());
  for (const BlockStore::Refused& refused : std::exchange(refused_, {})) {
    wire::pb::TableRefusal& refusal = *ack.add_refused();
    refusal.set_table(refused.table.value());
    refusal.set_error(ClippedMessage(refused.why.message()));
  }
  link_.SendControl(wire::Kind::kEpochAck, ack);
}

void ServerNode::Core::AcknowledgeWhatWaits() {
  if (acknowledge_later_ > 0) Acknowledge(std::exchange(acknowledge_later_, 0));
}

void ServerNode::Core::TakeOver(const Block& block) {
  takeover_.Begin(block.id());
  env_.timers.Cancel(takeover_timer_);
  takeover_timer_ = env_.timers.After(options_.link.silence_max, [this] {
    takeover_timer_ = {};
    takeover_.Clear();
    TellAllMembers();
    AcknowledgeWhatWaits();
  });
}

}  // namespace leeway
