#include "node/scheduler/core.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/link_options.h"
#include "node/own_pause.h"
#include "node/scheduler/job_check.h"
#include "node/scheduler/status.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// A roster is as long as the job has members, and goes to each of them: told of one by one, a job of a
// thousand would end with a thousand million entries. A shard lets the others go on when it hears; a worker
// has to know at the end, and before that only names those that it waits for.
Duration ShardsPause(std::int64_t workers) { return std::chrono::microseconds(250) * workers; }
Duration WorkersPause(std::int64_t workers) {
  constexpr std::int64_t kMany = 316;  // from here on 10 s
  const std::int64_t n = std::min(workers, kMany);
  return std::chrono::microseconds(100) * n * n;
}

}  // namespace

SchedulerNode::Core::Core(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
                          std::function<void(const Status&)> ended)
    : Core(options, env, policies, std::move(ended), CheckJob(options.job)) {}

SchedulerNode::Core::Core(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
                          std::function<void(const Status&)> ended, Status checked)
    : options_(options),
      env_(env),
      ended_(std::move(ended)),
      checked_(std::move(checked)),
      shards_hear_{wire::pb::ROLE_SERVER, true, ShardsPause(options.job.workers)},
      workers_hear_{wire::pb::ROLE_WORKER, false, WorkersPause(options.job.workers)},
      members_(checked_.ok() ? options.job : JobOptions{}),
      tables_(checked_.ok() ? options.job : JobOptions{}, policies, options.link.payload_bytes_max),
      acks_(members_.shards().size()),
      waits_(options.link.beat),
      checkpoints_(options.checkpoint, members_.shards().size()),
      moments_(policies.sync),
      files_(env.storage, env.log),
      folder_lock_(env, options.checkpoint.lock_wait),
      inbound_(env, options.link, options.job.job, *this) {}

SchedulerNode::Core::~Core() {
  env_.timers.Cancel(gather_timer_);
  env_.timers.Cancel(review_timer_);
  env_.timers.Cancel(linger_timer_);
  env_.timers.Cancel(commit_timer_);
  env_.timers.Cancel(shards_hear_.timer);
  env_.timers.Cancel(workers_hear_.timer);
}

Status SchedulerNode::Core::Start() {
  LW_RETURN_IF_ERROR(checked_);
  LW_RETURN_IF_ERROR(CheckLinkOptions(options_.link));
  LW_RETURN_IF_ERROR(CheckPatience(options_));
  LW_RETURN_IF_ERROR(tables_.Check());
  LW_ASSIGN_OR_RETURN(address_, inbound_.Listen(options_.listen));
  started_ = env_.clock.Now();
  if (options_.log_folder.empty()) {
    Begin();
  } else {
    OpenLog();
  }
  return Status::Ok();
}

void SchedulerNode::Core::Begin() {
  ready_ = prepared_ || options_.checkpoint.resume.empty();
  if (!members_.gathered()) {
    gather_timer_ = env_.timers.After(options_.gather_timeout, [this] { OnGatherTimeout(); });
  }
  ArmReview();
  PrepareCheckpoints();
}

std::string SchedulerNode::Core::Json() {
  HearConnected();
  const TimePoint now = env_.clock.Now();
  return ToJson({options_.job, over_ ? "ended" : (members_.gathered() ? "running" : "gathering"), epoch_,
                 now - started_, now, members_, tables_, pools_, reports_, options_.checkpoint, checkpoints_,
                 lacking_, AllServed()});
}

Result<wire::pb::Welcome> SchedulerNode::Core::OnHello(ConnectionId id, const wire::pb::Hello& hello) {
  // It asks again.
  if (!ready_) return Unavailable("the scheduler is still reading where the job stands");
  wire::pb::Welcome welcome;
  FillJob(options_.job, *welcome.mutable_job());
  welcome.set_epoch(epoch_.value());
  Peer peer{hello.role(), 0, hello.life()};
  ConnectionId older;
  if (hello.role() == wire::pb::ROLE_WORKER) {
    TellShardsBefore();  // a new life is in no roster of before it entered
    LW_ASSIGN_OR_RETURN(const auto admitted, members_.AdmitWorker(hello, id, env_.clock.Now()));
    older = admitted.older;
    peer.seat = admitted.seat.rank.index();
    if (admitted.fresh && members_.gathered()) {
      barriers_.Forget(admitted.seat.rank);
      members_.Enter(admitted.seat, NextEpoch(), std::max(Fastest() + 1, barriers_.passed()));
      if (admitted.former && admitted.former->counted()) EndLife(*admitted.former);
      env_.log.Write(LogLevel::kInfo,
                     fmt::format("worker {} joins the running job as incarnation {}",
                                 admitted.seat.rank.value(), admitted.seat.incarnation.value()));
    }
    welcome.set_incarnation(admitted.seat.incarnation.value());
  } else if (hello.role() == wire::pb::ROLE_SERVER) {
    // After the end nobody waits for the process before: a new one is only told that the job is over.
    const Duration grace = over_ ? Duration::zero() : ShardGrace();
    LW_ASSIGN_OR_RETURN(const auto found, members_.FindShard(hello, env_.clock.Now(), grace));
    if (found.fresh && members_.gathered() && !over_)
      LW_RETURN_IF_ERROR(ReplaceShard(found.seat, hello.listen()));
    members_.Seat(found.seat, hello, id, env_.clock.Now());
    older = found.older;
    peer.seat = found.seat.id.index();
  } else if (hello.role() == wire::pb::ROLE_MONITOR) {
    LW_RETURN_IF_ERROR(CheckMonitors());
  }
  welcome.set_id(static_cast<std::uint32_t>(peer.seat));
  if (older != ConnectionId{}) {
    DropPeer(older);
    inbound_.Close(older, Status::Ok());
  }
  peers_[id] = peer;
  return welcome;
}

Status SchedulerNode::Core::CheckMonitors() const {
  const auto monitors = std::ranges::count_if(
      peers_, [](const auto& entry) { return entry.second.role == wire::pb::ROLE_MONITOR; });
  if (monitors < options_.monitors_max) return Status::Ok();
  return ResourceExhausted(
      "{} monitors are connected, and no more than {} may be at a time (monitors_max): end one that is not "
      "needed, or ask again later",
      monitors, options_.monitors_max);
}

void SchedulerNode::Core::OnWelcomed(ConnectionId id) {
  const Peer peer = peers_.at(id);
  if (over_) return SendJobEnd(id);
  if (peer.role == wire::pb::ROLE_MONITOR) return;
  if (peer.role == wire::pb::ROLE_SERVER && members_.gathered()) {
    Instruct(id);
    // The others hear where it is after it has been told what it owns.
    if (std::exchange(members_.shards()[peer.seat].replaced, false)) SendRosterToOthers(id);
    return;
  }
  if (!members_.gathered()) {
    if (prepared_ && members_.Complete()) Gather();
  } else if (peer.role == wire::pb::ROLE_WORKER && members_.workers()[peer.seat].joining) {
    Welcome(id, members_.workers()[peer.seat]);
  } else {
    inbound_.SendControl(id, wire::Kind::kRoster, BuildRoster());
    if (peer.role == wire::pb::ROLE_WORKER) TellSync(id);
    AskForState(members_.workers()[peer.seat]);
  }
}

void SchedulerNode::Core::Instruct(ConnectionId shard) {
  // All tables, then the roster, then the word that this was all up to now: an acknowledgement covers what
  // came before it, so none of an epoch may be asked for while a part of that epoch is still to come.
  wire::pb::TableMap map;
  tables_.AddAllTo(map);
  if (map.tables_size() > 0) inbound_.SendControl(shard, wire::Kind::kTableMap, map);
  inbound_.SendControl(shard, wire::Kind::kRoster, BuildRoster());
  wire::pb::TableMap all;
  all.set_epoch(epoch_.value());
  all.set_tables_kept(
      static_cast<std::uint32_t>(tables_.all().size()));  // it may hold some that were withdrawn
  inbound_.SendControl(shard, wire::Kind::kTableMap, all);
  const ShardId id(static_cast<std::uint32_t>(peers_.at(shard).seat));
  if (const wire::pb::Cut* cut = checkpoints_.OpenFor(id))
    inbound_.SendControl(shard, wire::Kind::kCut, *cut);
}

void SchedulerNode::Core::Welcome(ConnectionId id, WorkerSeat& seat) {
  SendRoster();
  acks_.When(seat.entered, id, [this, id, &seat] {
    seat.joining = false;
    inbound_.SendControl(id, wire::Kind::kRoster, BuildRoster());
    AskForState(seat);
    ReleaseBarriers();  // those that it comes too late for
  });
}

Iteration SchedulerNode::Core::Fastest() const {
  Iteration fastest = fastest_before_;
  for (const auto& [worker, report] : reports_.workers) fastest = std::max(fastest, report.iteration());
  // No cut is named below an iteration whose batches are known to be done, and forgotten.
  return std::max(fastest, pools_.seen());
}

void SchedulerNode::Core::Gather() {
  env_.timers.Cancel(std::exchange(gather_timer_, {}));
  members_.Gather(NextEpoch());
  const auto roster = ControlBody(BuildRoster());
  // Shards first: the workers come to them as soon as they are told.
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_SERVER) Instruct(id);
  }
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_WORKER) inbound_.Send(id, wire::Kind::kRoster, roster);
  }
}

void SchedulerNode::Core::OnGatherTimeout() {
  gather_timer_ = {};
  if (prepared_ && members_.Suffices(options_.min_workers)) {
    env_.log.Write(LogLevel::kWarning, fmt::format("the job begins without {}, after {:.1f} s",
                                                   members_.Missing(), Seconds(options_.gather_timeout)));
    return Gather();
  }
  Finish(DeadlineExceeded("the job did not gather within {:.1f} s: missing {}",
                          Seconds(options_.gather_timeout), members_.Missing()));
}

void SchedulerNode::Core::OnGone(ConnectionId id, Parting how, const Status& why) {
  const Peer peer = peers_.at(id);
  DropPeer(id);
  CommitSoon();
  if (over_) {
    if (peer.role == wire::pb::ROLE_SERVER) {
      ShardSeat& seat = members_.shards()[peer.seat];
      seat.connection = {};
      if (how != Parting::kLost) seat.done = true;
    }
    if (lingers_ && peers_.empty() && ShardsKnow()) End();
    return;
  }
  if (peer.role == wire::pb::ROLE_WORKER) {
    LoseWorker(members_.workers()[peer.seat], how, why);
  } else if (peer.role == wire::pb::ROLE_SERVER) {
    LoseShard(members_.shards()[peer.seat], how, why);
  }
}

void SchedulerNode::Core::LoseWorker(WorkerSeat& seat, Parting how, const Status& why) {
  seat.connection = {};
  seat.last_heard = env_.clock.Now();
  if (how == Parting::kLost) return;  // it may come back until it is expelled
  if (!members_.gathered()) return members_.Free(seat);
  if (seat.live() && why.ok()) {
    members_.Leave(seat, ++epoch_, !pools_.IsDrawing(seat.rank));
    EndLife(seat);
    AfterGone();
  } else if (seat.live()) {
    Bury(seat, why.message());
  }
  seat.done = true;
  CheckDone();
}

void SchedulerNode::Core::Bury(WorkerSeat& seat, const std::string& why) {
  env_.log.Write(LogLevel::kWarning, fmt::format("worker {} is dead: {}", seat.rank.value(), why));
  seat.ended_because = why;
  const OnWorkerLoss what = options_.on_worker_loss;
  const bool keep = what == OnWorkerLoss::kWait || members_.LiveCount() <= options_.min_workers;
  if (keep) {
    members_.Lose(seat, env_.clock.Now());
    pools_.Doubt({seat.rank, seat.incarnation});  // until another life takes its place
  } else {
    members_.Die(seat, ++epoch_);
    EndLife(seat);
  }
  if (const ConnectionId id = std::exchange(seat.connection, {}); id != ConnectionId{}) {
    DropPeer(id);
    inbound_.Close(id, Fenced("worker {} incarnation {} was declared dead: {}", seat.rank.value(),
                              seat.incarnation.value(), why));
  }
  if (what == OnWorkerLoss::kFail) {
    return Finish(Unavailable("worker {} died: {}; on_worker_loss says that the job ends then",
                              seat.rank.value(), why));
  }
  if (!keep) return AfterGone();
  env_.log.Write(LogLevel::kWarning,
                 fmt::format("the job keeps the place of worker {} for {:.1f} s: start another "
                             "with this rank",
                             seat.rank.value(), Seconds(options_.gather_timeout)));
}

void SchedulerNode::Core::AfterGone() {
  TellWhoIsGone(shards_hear_);
  TellWhoIsGone(workers_hear_);
  ReleaseBarriers();
}

void SchedulerNode::Core::TellWhoIsGone(GoneNotice& notice) {
  notice.untold = true;
  const bool is_first = notice.timer == TimerId{};
  if (members_.LiveCount() == 0 || (is_first && notice.first_at_once)) SendRosterTo(notice.role);
  if (!is_first) return;
  notice.timer = env_.timers.After(notice.pause, [this, &notice] {
    notice.timer = {};
    if (notice.untold) SendRosterTo(notice.role);
  });
}

void SchedulerNode::Core::TellShardsBefore() {
  if (shards_hear_.untold) SendRosterTo(wire::pb::ROLE_SERVER);
}

Epoch SchedulerNode::Core::NextEpoch() {
  TellShardsBefore();
  return ++epoch_;
}

void SchedulerNode::Core::DropPeer(ConnectionId id) {
  peers_.erase(id);
  acks_.Forget(id);
  requests_.Forget(id);
  switches_.Forget(id);
}

void SchedulerNode::Core::SendRosterTo(wire::pb::Role role) {
  (role == wire::pb::ROLE_SERVER ? shards_hear_ : workers_hear_).untold = false;
  const auto roster = ControlBody(BuildRoster());
  for (const auto& [id, peer] : peers_) {
    if (peer.role == role) inbound_.Send(id, wire::Kind::kRoster, roster);
  }
}

void SchedulerNode::Core::SendRosterToOthers(ConnectionId than) {
  shards_hear_.untold = workers_hear_.untold = false;
  const auto roster = ControlBody(BuildRoster());
  for (const auto& [id, peer] : peers_) {
    if (peer.role != wire::pb::ROLE_MONITOR && id != than) inbound_.Send(id, wire::Kind::kRoster, roster);
  }
}

void SchedulerNode::Core::ArmReview() {
  review_due_ = env_.clock.Now() + options_.link.beat;
  review_timer_ = env_.timers.After(options_.link.beat, [this] {
    Review();
    CommitSoon();
    if (!over_) ArmReview();
  });
}

void SchedulerNode::Core::HearConnected() {
  // Never back: a pause that was forgiven stays so.
  const auto hear = [this](auto& seat, ConnectionId id) {
    seat.last_heard = std::max(seat.last_heard, inbound_.last_heard(id));
  };
  for (const auto& [id, peer] : peers_) {
    if (peer.role == wire::pb::ROLE_WORKER) hear(members_.workers()[peer.seat], id);
    if (peer.role == wire::pb::ROLE_SERVER) hear(members_.shards()[peer.seat], id);
  }
}

void SchedulerNode::Core::Review() {
  if (!ready_) return;  // nobody is let in yet: nobody can be silent
  HearConnected();
  const TimePoint now = env_.clock.Now();
  if (const Duration pause = OwnPause(review_due_, now, options_.link.beat); pause > Duration::zero()) {
    env_.log.Write(
        LogLevel::kWarning,
        fmt::format("the scheduler stood still for {:.1f} s; it counts as nobody's silence", Seconds(pause)));
    members_.Forgive(pause, now);
    waits_.Forgive(pause);
  }
  const Silence silence =
      members_.Review(now, {options_.suspect_after, options_.expel_after, options_.gather_timeout});
  for (const WorkerId rank : silence.suspected) {
    env_.log.Write(LogLevel::kWarning, fmt::format("worker {} has been silent for {:.1f} s or more",
                                                   rank.value(), Seconds(options_.suspect_after)));
  }
  for (const WorkerId rank : silence.expelled) {
    WorkerSeat& seat = members_.workers()[rank.index()];
    if (members_.gathered()) {
      Bury(seat, fmt::format("silent for {:.1f} s", Seconds(options_.expel_after)));
      if (over_) return;
    } else if (seat.connection == ConnectionId{}) {
      members_.Free(seat);
    }
  }
  for (const WorkerId rank : silence.unreplaced) {
    return Finish(Unavailable("worker {} died, and nobody took its place within {:.1f} s", rank.value(),
                              Seconds(options_.gather_timeout)));
  }
  for (const ShardId id : silence.lost) {
    ShardSeat& seat = members_.shards()[id.index()];
    if (members_.gathered()) {
      AwaitShard(seat, fmt::format("has been silent for {:.1f} s", Seconds(options_.expel_after)));
      if (over_) return;
    } else if (seat.connection == ConnectionId{}) {
      members_.Free(seat);
    }
  }
  for (const ShardId id : silence.unreplaced_shards) {
    const ShardSeat& seat = members_.shards()[id.index()];
    return Finish(LostServer(seat, fmt::format("was lost, and nobody took its place within {:.1f} s",
                                               Seconds(options_.gather_timeout))));
  }
  CheckDone();
  if (over_) return;
  ReviewWaits();
  if (over_) return;
  ReviewRules();
  ReviewSwitches();
  ReviewCheckpoints();
}

void SchedulerNode::Core::CheckDone() {
  if (over_ || !members_.AllDone()) return;
  Finish(members_.AnyLeft() ? Status::Ok() : Unavailable("all {} workers died", members_.workers().size()));
}

void SchedulerNode::Core::Finish(const Status& why) {
  if (over_) return;
  over_ = true;
  outcome_ = why;
  env_.timers.Cancel(std::exchange(gather_timer_, {}));
  env_.timers.Cancel(std::exchange(review_timer_, {}));
  for (GoneNotice* notice : {&shards_hear_, &workers_hear_})
    env_.timers.Cancel(std::exchange(notice->timer, {}));
  requests_.AnswerAll(
      {FailedPrecondition("the job ended before the checkpoint was whole"), 0, Iteration(-1), {}});
  for (const auto& [id, peer] : peers_) SendJobEnd(id);
  if (log_ == nullptr || !log_read_) return Linger();
  CommitSoon();  // it lingers once that is in the log
}

void SchedulerNode::Core::Stop(const Status& why) {
  if (!lingers_ || !outcome_.ok()) return Finish(why);
  env_.timers.Cancel(linger_timer_);
  linger_timer_ = env_.timers.After(Duration::zero(), [this] {
    linger_timer_ = {};
    End();
  });
}

void SchedulerNode::Core::Linger() {
  lingers_ = true;
  over_since_ = env_.clock.Now();
  const bool all_know = peers_.empty() && ShardsKnow();
  const Duration linger = all_know ? Duration::zero() : Duration(options_.link.hello_timeout);
  linger_timer_ = env_.timers.After(linger, [this] { OnLingered(); });
}

void SchedulerNode::Core::SendJobEnd(ConnectionId id) {
  wire::pb::JobEnd end;
  end.set_code(static_cast<std::uint32_t>(outcome_.code()));
  end.set_message(ClippedMessage(outcome_.message()));
  inbound_.SendControl(id, wire::Kind::kJobEnd, end);
}

bool SchedulerNode::Core::ShardsKnow() const {
  // One that was started again does not know whom the one before has told.
  const bool must = outcome_.ok() || over_before_;
  return !must || std::ranges::all_of(members_.shards(), &ShardSeat::done);
}

void SchedulerNode::Core::OnLingered() {
  linger_timer_ = {};
  // A shard is given up as it is while the job runs.
  if (ShardsKnow() || env_.clock.Now() - over_since_ >= options_.expel_after) return End();
  linger_timer_ = env_.timers.After(options_.link.hello_timeout, [this] { OnLingered(); });
}

void SchedulerNode::Core::End() {
  if (std::exchange(finished_, true)) return;
  env_.timers.Cancel(std::exchange(linger_timer_, {}));
  inbound_.EndHold(false);
  inbound_.CloseAll(outcome_);
  peers_.clear();  // nobody is connected any more: the status may still be asked for
  ended_(outcome_);
}

}  // namespace leeway
