#include "node/server/server_node.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/inbound.h"
#include "node/link_options.h"
#include "node/server/block_alarms.h"
#include "node/server/block_store.h"
#include "node/server/block_warnings.h"
#include "node/server/delayed_pulls.h"
#include "node/server/firsts.h"
#include "node/server/landed.h"
#include "node/server/outbox.h"
#include "node/server/restores.h"
#include "node/server/roster.h"
#include "node/server/sessions.h"
#include "node/server/shard_cut.h"
#include "node/server/shard_figures.h"
#include "node/server/takeover.h"
#include "node/server/why.h"
#include "wire/frame.h"

namespace leeway {

// Routes events: frames of workers to blocks, what blocks say to the outbox, the scheduler's word to all
// blocks.
class ServerNode::Core final : private InboundEvents, private LinkEvents, private BlockEvents {
 public:
  Core(const ServerOptions& options, Env& env, const ServerPolicies& policies, AddressSource scheduler,
       std::function<void(const Status&)> ended)
      : options_(options),
        env_(env),
        ended_(std::move(ended)),
        life_(env.random.Next()),
        pool_(options.spare_bytes_max),
        blocks_(policies.sync, policies.optimizers, pool_, *this),
        alarms_(env, [this](BlockId id) { OnAlarm(id); }),
        restores_(env, blocks_, pool_,
                  {.loaded =
                       [this](Block& block, bool taken_over) {
                         if (taken_over) TakeOver(block);
                         TellMembers(block);
                         Flush();
                       },
                   .failed = [this](const Status& why) { End(why); },
                   .all_loaded =
                       [this] {
                         if (acknowledge_later_ > 0) Acknowledge(std::exchange(acknowledge_later_, 0));
                       }}),
        cut_(env, blocks_,
             [this](const wire::pb::CutReply& reply) { link_.SendControl(wire::Kind::kCutReply, reply); }),
        inbound_(env, options.link, options.job, *this),
        link_(env, options.link, std::move(scheduler), 0, "scheduler", *this) {}

  ~Core() override {
    env_.timers.Cancel(report_timer_);
    env_.timers.Cancel(takeover_timer_);
  }

  Status Start() {
    LW_RETURN_IF_ERROR(CheckLinkOptions(options_.link));
    LW_ASSIGN_OR_RETURN(address_, inbound_.Listen(options_.listen));
    link_.Start();
    return Status::Ok();
  }

  void Stop(const Status& why) {
    over_ = true;
    env_.timers.Cancel(std::exchange(report_timer_, {}));
    env_.timers.Cancel(std::exchange(takeover_timer_, {}));
    alarms_.Clear();
    link_.Stop(why);
    inbound_.CloseAll(why);
  }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const BlockStore& blocks() const { return blocks_; }

 private:
  // From workers.
  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) override {
    if (hello.role() != wire::pb::ROLE_WORKER) {
      return InvalidArgument("a shard takes workers only: got role {}", static_cast<int>(hello.role()));
    }
    if (hello.rank() < 0 || hello.rank() >= kNoWorker.value() || hello.incarnation() == 0) {
      return Protocol("hello of worker {} incarnation {}, wanted both as the scheduler gave them",
                      hello.rank(), hello.incarnation());
    }
    const MemberKey who{WorkerId(static_cast<std::uint32_t>(hello.rank())), Incarnation(hello.incarnation())};
    LW_RETURN_IF_ERROR(roster_.CheckLife(who));
    if (const ConnectionId older = sessions_.Add(id, who); older != ConnectionId{}) {
      inbound_.Close(older, Status::Ok());
      ForgetPulls(who);
    }
    wire::pb::Welcome welcome;
    welcome.set_id(place_.shard.value());
    welcome.set_incarnation(hello.incarnation());
    welcome.set_epoch(roster_.epoch().value());
    return welcome;
  }

  void OnWelcomed(ConnectionId) override {}

  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override {
    const MemberKey from = *sessions_.Find(id);
    const auto kind = static_cast<wire::Kind>(head.kind);
    if (kind == wire::Kind::kPush) {
      LW_ASSIGN_OR_RETURN(const auto landed, LandPush(body, head.payload_bytes, from, blocks_, pool_));
      return landed->Places(landed);
    }
    if (kind == wire::Kind::kInit) {
      LW_ASSIGN_OR_RETURN(const auto landed, LandInit(body, head.payload_bytes, from, blocks_, pool_));
      return landed->Places(landed);
    }
    return Protocol("{} with a payload of {} bytes, wanted none", wire::KindName(kind), head.payload_bytes);
  }

  Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                 Landing landing) override {
    traffic_.bytes_in += wire::kHeaderBytes + head.body_bytes + head.payload_bytes;
    const MemberKey from = *sessions_.Find(id);
    Status taken;
    switch (const auto kind = static_cast<wire::Kind>(head.kind); kind) {
      case wire::Kind::kPush:
        taken = TakePush(from, body, std::move(landing));
        break;
      case wire::Kind::kInit:
        taken = TakeInit(from, body, std::move(landing));
        break;
      case wire::Kind::kAbsent:
        taken = TakeAbsent(from, body);
        break;
      case wire::Kind::kPull:
        taken = TakePull(from, body);
        break;
      case wire::Kind::kWhy:
        return TakeWhy(id, body);
      default:
        return Protocol("{} from a worker, wanted Init, Push, Absent, Pull or Why", wire::KindName(kind));
    }
    Flush();
    if (acknowledge_later_ > 0) Acknowledge(std::exchange(acknowledge_later_, 0));
    return taken;
  }

  // A block that another process had: nobody is waited for there without end.
  void TakeOver(const Block& block) {
    takeover_.Begin(block.id());
    env_.timers.Cancel(takeover_timer_);
    takeover_timer_ = env_.timers.After(options_.link.silence_max, [this] {
      takeover_timer_ = {};
      takeover_.Clear();
      TellAllMembers();
      if (acknowledge_later_ > 0) Acknowledge(std::exchange(acknowledge_later_, 0));
    });
  }

  Status TakeWhy(ConnectionId id, std::span<const std::byte> body) {
    wire::pb::Why why;
    LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kWhy, body, why));
    inbound_.SendControl(id, wire::Kind::kWhyReply, ExplainBlock(why, blocks_));
    return Status::Ok();
  }

  void OnGone(ConnectionId id, Parting, const Status&) override {
    if (const MemberKey* who = sessions_.Find(id); who != nullptr) {
      ForgetPulls(MemberKey(*who));
      sessions_.Remove(id);
    }
  }

  Status TakePush(MemberKey from, std::span<const std::byte> body, Landing landing) {
    auto landed = std::static_pointer_cast<LandedPush>(std::move(landing.lease));
    landing.places.clear();
    if (landed == nullptr) {
      LW_ASSIGN_OR_RETURN(landed, LandPush(body, 0, from, blocks_, pool_));  // a frame without any payload
    }
    const wire::Push& push = landed->message;
    PushEvent event{.from = from,
                    .term = {},
                    .seq = {},
                    .iteration = push.iteration,
                    .base_version = {},
                    .samples = push.samples,
                    .steps = push.steps,
                    .hyper = push.hyper};
    const TimePoint now = env_.clock.Now();
    for (std::size_t i = 0; i < push.entries.size(); ++i) {
      const wire::PushEntry& entry = push.entries[i];
      Block* block = FindFor(entry.block, landed->buffers[i]);
      if (block == nullptr) {
        SayMoved(from, entry.block, entry.term, entry.seq);
        continue;
      }
      event.term = entry.term;
      event.seq = entry.seq;
      event.base_version = entry.base_version;
      takeover_.Hear(*block, entry.term, from);
      block->OnPush(event, std::move(landed->buffers[i]), now);
    }
    return Status::Ok();
  }

  Status TakeInit(MemberKey from, std::span<const std::byte> body, Landing landing) {
    auto landed = std::static_pointer_cast<LandedInit>(std::move(landing.lease));
    if (landed == nullptr) {
      LW_ASSIGN_OR_RETURN(landed, LandInit(body, 0, from, blocks_, pool_));
    }
    for (std::size_t i = 0; i < landed->message.entries.size(); ++i) {
      const wire::InitEntry& entry = landed->message.entries[i];
      Block* block = FindFor(entry.block, landed->buffers[i]);
      if (block == nullptr) {
        SayMoved(from, entry.block, entry.term, Seq(0));
        continue;
      }
      block->OnInit(from, entry.term, std::move(landed->buffers[i]), env_.clock.Now());
    }
    return Status::Ok();
  }

  Status TakeAbsent(MemberKey from, std::span<const std::byte> body) {
    LW_RETURN_IF_ERROR(wire::Decode(body, 0, absent_));
    LW_RETURN_IF_ERROR(CheckSender({absent_.worker, absent_.incarnation}, from, wire::Kind::kAbsent));
    for (const wire::AbsentEntry& entry : absent_.entries) {
      if (Block* block = blocks_.Find(entry.block); block != nullptr) {
        takeover_.Hear(*block, entry.term, from);
        block->OnAbsent({from, entry.term, entry.seq, absent_.iteration}, env_.clock.Now());
      } else {
        SayMoved(from, entry.block, entry.term, entry.seq);
      }
    }
    return Status::Ok();
  }

  Status TakePull(MemberKey from, std::span<const std::byte> body) {
    LW_RETURN_IF_ERROR(wire::Decode(body, 0, pull_));
    LW_RETURN_IF_ERROR(CheckSender({pull_.worker, pull_.incarnation}, from, wire::Kind::kPull));
    for (const wire::PullEntry& entry : pull_.entries) {
      Block* block = blocks_.Find(entry.block);
      if (block == nullptr) {
        SayMoved(from, entry.block, entry.term, Seq(0));
        continue;
      }
      const std::uint64_t delayed = block->counters().delayed;
      block->OnPull({.from = from,
                     .term = entry.term,
                     .progress = entry.progress,
                     .cached_version = entry.cached_version,
                     .epoch_min = pull_.epoch_min,
                     .observer = pull_.observer,
                     .significance = entry.significance},
                    env_.clock.Now());
      if (block->counters().delayed > delayed) delayed_pulls_.Note(from, entry.progress);
    }
    return Status::Ok();
  }

  // The block, if it is here and `landed` fits it. A block may come to be while a frame for it is under way.
  [[nodiscard]] Block* FindFor(BlockId id, const BufferRef& landed) const {
    Block* block = blocks_.Find(id);
    return block != nullptr && landed != nullptr && landed->floats().size() == block->elements() ? block
                                                                                                 : nullptr;
  }

  void SayMoved(MemberKey to, BlockId block, Term term, Seq seq) {
    ++traffic_.moved;
    outbox_.AddVerdict(to, {block, term, seq, wire::Verdict::kMoved, Iteration(0)});
  }

  // From blocks, during their calls.

  void OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, BlockVerdict verdict,
                 Iteration v_train) override {
    outbox_.AddVerdict(to, {block, term, seq, static_cast<wire::Verdict>(verdict), v_train});
  }

  void OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) override {
    wire::AnswerEntry entry;
    entry.block = block;
    entry.term = term;
    entry.progress = answer.progress;
    entry.v_train = answer.v_train;
    entry.version = answer.version;
    outbox_.AddAnswer(to, entry, answer.values);
  }

  void OnWakeAt(BlockId block, TimePoint when) override { alarms_.Set(block, when); }
  void OnReached(BlockId block) override { cut_.OnReached(block); }

  void OnAlarm(BlockId id) {
    blocks_.Find(id)->OnTimer(env_.clock.Now());
    Flush();
  }

  void Flush() { outbox_.Flush(sessions_, inbound_); }

  void ForgetPulls(MemberKey who) {
    for (const auto& block : blocks_.all()) block->OnDisconnected(who);
    Flush();
  }

  // From the scheduler.

  wire::pb::Hello MakeHello(std::uint32_t) override {
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

  void OnUp(std::uint32_t, const wire::pb::Welcome& welcome) override {
    welcomed_ = true;
    place_ = {ShardId(welcome.id()), ServerId(options_.server), welcome.job().seed()};
    Report();
  }

  void OnDown(std::uint32_t, const Status& why) override {
    env_.timers.Cancel(std::exchange(report_timer_, {}));
    env_.log.Write(LogLevel::kWarning, fmt::format("scheduler lost, reconnecting: {}", why.message()));
  }

  void OnFailed(std::uint32_t, const Status& why) override { End(why); }

  Result<Landing> OnFrameStart(std::uint32_t, const FrameHead& head, std::span<const std::byte>) override {
    return Protocol("{} from the scheduler with a payload of {} bytes, wanted none",
                    wire::KindName(static_cast<wire::Kind>(head.kind)), head.payload_bytes);
  }

  void OnFrame(std::uint32_t, const FrameHead& head, std::span<const std::byte> body, Landing) override {
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
        taken =
            Protocol("{} from the scheduler, wanted Roster, TableMap, Cut or JobEnd", wire::KindName(kind));
    }
    // A shard that cannot follow the scheduler would hold up the job: it says why and ends.
    if (!taken.ok()) End(taken);
  }

  Status TakeRoster(std::span<const std::byte> body) {
    wire::pb::Roster roster;
    LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kRoster, body, roster));
    if (roster_.Take(roster)) {
      CloseFenced();
      TellAllMembers();
    }
    Acknowledge(roster.epoch());
    return Status::Ok();
  }

  void CloseFenced() {
    const std::map<MemberKey, ConnectionId> sessions = sessions_.all();
    for (const auto& [who, id] : sessions) {
      const Status life = roster_.CheckLife(who);
      if (life.ok()) continue;
      sessions_.Remove(id);
      inbound_.Close(id, life);
      ForgetPulls(who);
    }
  }

  Status TakeMap(std::span<const std::byte> body) {
    wire::pb::TableMap map;
    LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kTableMap, body, map));
    LW_ASSIGN_OR_RETURN(const BlockStore::Taken taken, blocks_.Take(map, place_));
    for (Block* block : taken.created) TellMembers(*block);
    for (const BlockStore::ToRestore& block : taken.to_restore) restores_.Begin(block);
    Flush();
    if (map.epoch() > 0) Acknowledge(map.epoch());
    return Status::Ok();
  }

  Status TakeCut(std::span<const std::byte> body) {
    wire::pb::Cut cut;
    LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kCut, body, cut));
    cut_.Begin(cut, options_.job, place_.shard);
    return Status::Ok();
  }

  Status TakeJobEnd(std::span<const std::byte> body) {
    wire::pb::JobEnd end;
    LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kJobEnd, body, end));
    SendReport();  // the job's summary counts what came since the last beat
    End(end.code() == 0 ? Status::Ok() : Status(CodeFromWire(end.code()), end.message()));
    return Status::Ok();
  }

  void TellMembers(Block& block) {
    // A block that was saved with members would take an empty roster for the death of all.
    if (roster_.epoch() == Epoch(0)) return;
    const auto members = blocks_.IsOwnClock(block) ? roster_.own_clock_members() : roster_.members();
    block.OnMembers(roster_.epoch(), takeover_.Known(block.id(), members, roster_), env_.clock.Now());
  }
  void TellAllMembers() {
    for (const auto& block : blocks_.all()) TellMembers(*block);
    Flush();
  }

  void Acknowledge(std::uint64_t epoch) {
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
    link_.SendControl(wire::Kind::kEpochAck, ack);
  }

  void Report() {
    SendReport();
    report_timer_ = env_.timers.After(options_.link.beat, [this] { Report(); });
  }

  void SendReport() {
    warnings_.Look(blocks_, env_.log);
    traffic_.bytes_out = outbox_.bytes_sent();
    traffic_.delayed_pulls = delayed_pulls_.count();
    link_.SendControl(wire::Kind::kReport, ShardReport(blocks_, traffic_));
  }

  void End(const Status& why) {
    if (over_) return;
    Stop(why);
    ended_(why);
  }

  const ServerOptions options_;
  Env& env_;
  const std::function<void(const Status&)> ended_;
  const std::uint64_t life_;
  std::string address_;
  ShardPlace place_;
  bool welcomed_ = false;  // may own blocks
  bool over_ = false;
  TimerId report_timer_, takeover_timer_;

  // In the order of who borrows whom: what is declared later goes first.
  BufferPool pool_;
  Roster roster_;
  Sessions sessions_;
  Outbox outbox_;
  DelayedPulls delayed_pulls_;
  ShardTraffic traffic_;
  BlockWarnings warnings_;
  wire::Absent absent_;
  wire::Pull pull_;
  BlockStore blocks_;
  BlockAlarms alarms_;
  Takeover takeover_;
  std::uint64_t acknowledge_later_ = 0;
  Restores restores_;
  ShardCut cut_;
  Inbound inbound_;
  Link link_;
};

ServerNode::ServerNode(const ServerOptions& options, Env& env, const ServerPolicies& policies,
                       AddressSource scheduler, std::function<void(const Status&)> ended)
    : core_(std::make_unique<Core>(options, env, policies, std::move(scheduler), std::move(ended))) {}

ServerNode::~ServerNode() = default;

Status ServerNode::Start() { return core_->Start(); }

void ServerNode::Stop() { core_->Stop(Status::Ok()); }

const std::string& ServerNode::address() const { return core_->address(); }

const Block* ServerNode::FindBlock(BlockId id) const { return core_->blocks().Find(id); }

BlockCounters ServerNode::counters() const { return core_->blocks().Sum(); }

}  // namespace leeway
