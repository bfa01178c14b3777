#include "node/server/core.h"

#include <utility>

#include "base/errors.h"
#include "node/link_options.h"

namespace leeway {
namespace {

constexpr std::size_t kUnknownLivesMax = 256;

}  // namespace

ServerNode::Core::Core(const ServerOptions& options, Env& env, const ServerPolicies& policies,
                       AddressSource scheduler, std::function<void(const Status&)> ended)
    : options_(options),
      env_(env),
      ended_(std::move(ended)),
      life_(env.random.Next()),
      pool_(options.spare_bytes_max, env.arena),
      strained_(env.clock, env.log),
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
                 .all_loaded = [this] { OnAllRestored(); }}),
      cut_(env, blocks_,
           [this](const wire::pb::CutReply& reply) { link_.SendControl(wire::Kind::kCutReply, reply); }),
      inbound_(env, options.link, options.job, *this),
      link_(env, options.link, std::move(scheduler), 0, "scheduler", *this) {}

ServerNode::Core::~Core() {
  env_.timers.Cancel(report_timer_);
  env_.timers.Cancel(takeover_timer_);
}

Status ServerNode::Core::Start() {
  LW_RETURN_IF_ERROR(CheckLinkOptions(options_.link));
  LW_ASSIGN_OR_RETURN(address_, inbound_.Listen(options_.listen));
  link_.Start();
  return Status::Ok();
}

void ServerNode::Core::Stop(const Status& why) {
  over_ = true;
  env_.timers.Cancel(std::exchange(report_timer_, {}));
  env_.timers.Cancel(std::exchange(takeover_timer_, {}));
  alarms_.Clear();
  link_.Stop(why);
  inbound_.CloseAll(why);
}

Result<wire::pb::Welcome> ServerNode::Core::OnHello(ConnectionId id, const wire::pb::Hello& hello) {
  if (hello.role() != wire::pb::ROLE_WORKER) {
    return InvalidArgument("a shard takes workers only: got role {}", static_cast<int>(hello.role()));
  }
  if (hello.rank() < 0 || hello.rank() >= kNoWorker.value() || hello.incarnation() == 0) {
    return Protocol("hello of worker {} incarnation {}, wanted both as the scheduler gave them", hello.rank(),
                    hello.incarnation());
  }
  const MemberKey who{WorkerId(static_cast<std::uint32_t>(hello.rank())), Incarnation(hello.incarnation())};
  LW_RETURN_IF_ERROR(roster_.CheckLife(who));
  // Those that the roster knows are as many as the job has workers. The others may have heard of an epoch
  // before this shard did; each takes memory, so only some of them are let in until the roster is here.
  if (!roster_.Knows(who) && sessions_.size() >= roster_.members().size() + kUnknownLivesMax) {
    return Unavailable(
        "worker {} incarnation {} is not in this shard's roster of epoch {}, and {} connections of "
        "workers are open, wanted at most {}",
        who.worker.value(), who.incarnation.value(), roster_.epoch().value(), sessions_.size(),
        roster_.members().size() + kUnknownLivesMax);
  }
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

void ServerNode::Core::OnGone(ConnectionId id, Parting, const Status&) {
  if (const MemberKey* who = sessions_.Find(id); who != nullptr) {
    ForgetPulls(MemberKey(*who));
    sessions_.Remove(id);
  }
}

void ServerNode::Core::ForgetPulls(MemberKey who) {
  for (const auto& block : blocks_.all()) block->OnDisconnected(who);
  Flush();
}

void ServerNode::Core::OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, BlockVerdict verdict,
                                 Iteration v_train) {
  outbox_.AddVerdict(to, {block, term, seq, static_cast<wire::Verdict>(verdict), v_train});
}

void ServerNode::Core::OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) {
  wire::AnswerEntry entry;
  entry.block = block;
  entry.term = term;
  entry.progress = answer.progress;
  entry.v_train = answer.v_train;
  entry.version = answer.version;
  entry.held_for = answer.held_for;
  outbox_.AddAnswer(to, entry, answer.values);
}

void ServerNode::Core::OnAlarm(BlockId id) {
  Block* const block = blocks_.Find(id);
  if (block == nullptr) return;  // its table was withdrawn
  block->OnTimer(env_.clock.Now());
  Flush();
}

void ServerNode::Core::Report() {
  SendReport();
  report_timer_ = env_.timers.After(options_.link.beat, [this] { Report(); });
}

void ServerNode::Core::SendReport() {
  warnings_.Look(blocks_, env_.log);
  traffic_.bytes_out = outbox_.bytes_sent();
  ++traffic_.reports;
  wire::pb::Report report = ShardReport(blocks_, traffic_, delayed_pulls_, staleness_);
  table_reports_.AddTo(blocks_, report);
  link_.SendControl(wire::Kind::kReport, report);
}

void ServerNode::Core::End(const Status& why) {
  if (over_) return;
  Stop(why);
  ended_(why);
}

}  // namespace leeway
