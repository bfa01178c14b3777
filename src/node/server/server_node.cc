#include "node/server/server_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/errors.h"
#include "leeway/arena.h"
#include "leeway/storage.h"
#include "node/control_frame.h"
#include "node/link_options.h"
#include "node/unread.h"

namespace leeway {
namespace {

// Lets another thread make the pages of new blocks while their values are on their way. A page fault costs
// more than the copy of its page: 3 to 15 microseconds on virtual machines.
void PrepareFirstVersions(Env& env, std::span<Block* const> created) {
  // The last block comes first: initial values come in order, and the two meet in the middle.
  for (std::size_t i = created.size(); i-- > 0;) {
    const BufferRef first = created[i]->reserved();
    std::function<void()> work = env.arena.Prepare(first->bytes());
    if (!work) continue;
    env.compute.Run(std::move(work), [first] {});  // keeps the buffer until then
  }
}

// The wire's field is short: a longer time is sent as the longest that fits.
std::uint32_t Microseconds(Duration duration) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(us, 0, UINT32_MAX));
}

}  // namespace

ServerNode::ServerNode(const ServerOptions& options, Env& env, const ServerPolicies& policies,
                       AddressSource scheduler, std::function<void(const Status&)> ended)
    : options_(options),
      env_(env),
      ended_(std::move(ended)),
      pool_(options.spare_bytes_max, env.arena),
      blocks_(policies.sync, policies.optimizers, pool_, *this),
      outbox_(options.link.frame_payload_bytes, env.timers, [this] { Flush(); }),
      alarms_(env,
              [this](BlockId id) {
                Block* const block = blocks_.Find(id);
                if (block == nullptr) return;  // its table was withdrawn
                block->OnTimer(env_.clock.Now());
                Flush();
              }),
      members_(env, blocks_, options.link.silence_max,
               [this] {
                 Flush();
                 AcknowledgePutOff();
               }),
      frames_(env, blocks_, pool_, options.link.frame_payload_bytes, options.shard,
              {.heard = [this](const Block& block, Term term,
                               MemberKey from) { members_.Hear(block, term, from); },
               .delayed = [this](TableId table, MemberKey from,
                                 Iteration progress) { reports_.NoteDelay(table, from, progress); },
               .wants_newest = [this](MemberKey from, BlockId block,
                                      Ask ask) { outbox_.held().OnPull(from, block, ask); },
               .moved = [this](MemberKey to,
                               const wire::VerdictEntry& verdict) { outbox_.AddVerdict(to, verdict); },
               .arrays =
                   [this](MemberKey to, std::span<const std::byte> body, std::span<const Pinned> payload) {
                     inbound_.Send(sessions_.Of(to), wire::Kind::kArrays, body, payload);
                   }}),
      restores_(env, blocks_, pool_,
                {.loaded =
                     [this](Block& block, bool taken_over) {
                       if (taken_over) members_.TakeOver(block.id());
                       members_.Tell(block);
                       Flush();
                     },
                 .failed = [this](const Status& why) { OnEnd(why); },
                 .all_loaded =
                     [this] {
                       if (over_) return;
                       AcknowledgePutOff();
                       cut_.BeginDeferred(options_.job, scheduler_.place().shard);
                     }}),
      cut_(env, blocks_,
           [this](const wire::pb::CutReply& reply) { scheduler_.Send(wire::Kind::kCutReply, reply); }),
      inbound_(env, options.link, options.job, *this),
      scheduler_(options_, env, std::move(scheduler), *this) {}

Status ServerNode::Start() {
  LW_RETURN_IF_ERROR(CheckLinkOptions(options_.link));
  LW_ASSIGN_OR_RETURN(address_, inbound_.Listen(options_.listen));
  scheduler_.Start(address_);
  return Status::Ok();
}

void ServerNode::Stop(const Status& why) {
  over_ = true;
  members_.Stop();
  alarms_.Clear();
  scheduler_.Stop(why);
  inbound_.CloseAll(why);
}

void ServerNode::OnEnd(const Status& why) {
  if (over_) return;
  Stop(why);
  ended_(why);
}

Result<wire::pb::Welcome> ServerNode::OnHello(ConnectionId id, const wire::pb::Hello& hello) {
  LW_ASSIGN_OR_RETURN(const MemberKey who, members_.roster().Admit(hello, sessions_.size()));
  if (const ConnectionId older = sessions_.Add(id, who); older != ConnectionId{}) {
    inbound_.Close(older, Status::Ok());
    ForgetPulls(who);
  }
  wire::pb::Welcome welcome;
  welcome.set_id(scheduler_.place().shard.value());
  welcome.set_incarnation(hello.incarnation());
  welcome.set_epoch(members_.roster().epoch().value());
  return welcome;
}

void ServerNode::OnGone(ConnectionId id, Parting, const Status&) {
  if (const MemberKey* who = sessions_.Find(id); who != nullptr) {
    ForgetPulls(MemberKey(*who));
    sessions_.Remove(id);
  }
}

void ServerNode::ForgetPulls(MemberKey who) {
  outbox_.held().Forget(who);
  for (const auto& block : blocks_.all()) block->OnDisconnected(who);
  Flush();
}

Result<Landing> ServerNode::OnFrameStart(ConnectionId id, const FrameHead& head,
                                         std::span<const std::byte> body) {
  return frames_.Land(*sessions_.Find(id), head, body);
}

Status ServerNode::OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                           Landing&& landing) {
  reports_.NoteFrame(head);
  const MemberKey from = *sessions_.Find(id);
  // A worker pulls a block again only once it has the answer. So one answer per block may wait, and some more
  // are on their way out.
  LW_RETURN_IF_ERROR(CheckUnread(env_, id, options_.link.unread_bytes_max + 2 * blocks_.bytes()));
  const auto kind = static_cast<wire::Kind>(head.kind);
  if (kind == wire::Kind::kWhy) return AnswerWhy(id, from.worker, body);
  LW_RETURN_IF_ERROR(WorkerFrames::CheckKind(kind));
  Status taken = frames_.Take(from, head, body, std::move(landing), members_.taking_over());
  Flush();
  AcknowledgePutOff();
  return taken;
}

Status ServerNode::AnswerWhy(ConnectionId id, WorkerId asks, std::span<const std::byte> body) {
  wire::pb::Why why;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kWhy, body, why));
  inbound_.SendControl(id, wire::Kind::kWhyReply, blocks_.Explain(why, asks));
  return Status::Ok();
}

void ServerNode::OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, Verdict verdict,
                           Iteration v_train) {
  outbox_.AddVerdict(to, {block, term, seq, verdict, v_train});
}

void ServerNode::OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) {
  wire::AnswerEntry entry;
  entry.block = block;
  entry.term = term;
  entry.ask = answer.ask;
  entry.v_train = answer.v_train;
  entry.version = answer.version;
  entry.mean = answer.mean;
  if (answer.no_gradient) entry.content = wire::AnswerEntry::Content::kNoGradient;
  entry.held_for = answer.held_for;
  entry.held_us = Microseconds(answer.held);
  outbox_.AddAnswer(to, entry, answer.values, answer.priority);
}

void ServerNode::OnRoster(const wire::pb::Roster& roster) {
  const std::uint64_t fences = members_.roster().fences();
  if (members_.Take(roster)) {
    if (members_.roster().fences() != fences) CloseFenced();
    members_.TellAll();
    Flush();
  }
  Acknowledge(roster.epoch());
}

void ServerNode::CloseFenced() {
  for (const ConnectionId id : sessions_.All()) {
    const MemberKey who = *sessions_.Find(id);
    const Status life = members_.roster().CheckLife(who);
    if (life.ok()) continue;
    sessions_.Remove(id);
    inbound_.Close(id, life);
    ForgetPulls(who);
  }
}

Status ServerNode::OnTableMap(const wire::pb::TableMap& map) {
  // The scheduler withdraws all tables from this one on.
  if (map.has_tables_kept() && blocks_.DropFrom(TableId(map.tables_kept())) > 0) {
    cut_.Abandon(Unavailable("tables were withdrawn while it was written"));
  }
  LW_ASSIGN_OR_RETURN(const BlockStore::Taken taken, blocks_.Take(map, scheduler_.place(), env_.clock.Now()));
  for (const BlockStore::Refused& refused : taken.refused) {
    env_.log.Write(LogLevel::kError, refused.why.message());
    acks_.Refuse(refused);
  }
  PrepareFirstVersions(env_, taken.created);
  for (Block* block : taken.created) members_.Tell(*block);
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

void ServerNode::OnCut(const wire::pb::Cut& cut) {
  if (!restores_.empty()) return cut_.Defer(cut);  // it would lack the blocks that are being read
  cut_.Begin(cut, options_.job, scheduler_.place().shard);
}

wire::pb::Report ServerNode::MakeReport() {
  const ShardTraffic traffic{.bytes_out = outbox_.bytes_sent(),
                             .moved = frames_.moved(),
                             .no_memory = frames_.no_memory(),
                             .answers_withdrawn = answers_withdrawn()};
  return reports_.Make(blocks_, traffic, env_.log);
}

void ServerNode::Acknowledge(std::uint64_t epoch) {
  // An acknowledgement covers all before it, blocks that are still being read among them.
  if (!restores_.empty() || !members_.Settle()) return acks_.PutOff(epoch);
  Flush();
  scheduler_.Send(wire::Kind::kEpochAck, acks_.Make(epoch, members_.roster(), blocks_));
}

void ServerNode::AcknowledgePutOff() {
  if (const std::uint64_t epoch = acks_.TakePutOff(); epoch > 0) Acknowledge(epoch);
}

}  // namespace leeway
