#include "node/scheduler/scheduler_node.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/link_options.h"
#include "node/own_pause.h"
#include "node/scheduler/job_check.h"
#include "node/scheduler/scheduler_parts.h"
#include "node/scheduler/status.h"
#include "node/scheduler/wait_review.h"
#include "node/seconds.h"

namespace leeway {

SchedulerNode::SchedulerNode(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
                             std::function<void(const Status&)> ended)
    : env_(env),
      parts_(
          std::make_unique<Parts>(options, env, policies, std::move(ended), CheckJob(options.job), *this)) {}

SchedulerNode::~SchedulerNode() {
  env_.timers.Cancel(gather_timer_);
  env_.timers.Cancel(review_timer_);
}

Status SchedulerNode::Start() {
  const SchedulerOptions& options = parts_->options;
  LW_RETURN_IF_ERROR(parts_->checked);
  LW_RETURN_IF_ERROR(CheckLinkOptions(options.link));
  LW_RETURN_IF_ERROR(CheckPatience(options));
  LW_RETURN_IF_ERROR(parts_->tables().Check());
  LW_RETURN_IF_ERROR(parts_->peers.Listen(options.listen));
  parts_->started = parts_->gathered = env_.clock.Now();
  if (options.log_folder.empty()) {
    Begin();
    return Status::Ok();
  }
  parts_->departures.pools().KeepChanges();
  parts_->log.Open(options, [this](const Result<std::optional<DecodedLog>>& read) {
    if (parts_->end.over()) return;  // stopped meanwhile
    Status status = read.status();
    if (status.ok() && *read) {
      status = parts_->Replay(**read).WithContext(fmt::format("the scheduler's log {}", parts_->log.path()));
    }
    if (!status.ok()) {
      // Nobody is told that the job has ended: it may go on with a scheduler that can read the log.
      parts_->end.Begin(status);
      parts_->Stop();
      return parts_->end.End();
    }
    if (!*read || parts_->end.over()) return GoOn(read->has_value());
    parts_->restore_point.Find(parts_->writer.checkpoints().Candidates(), [this] { GoOn(true); });
  });
  return Status::Ok();
}

void SchedulerNode::GoOn(bool found) {
  if (const auto& last = parts_->restore_point.last(); last && !last->of_this_run)
    parts_->members.Restore(RankRestores(last->manifest, last->folder));
  parts_->ready = true;
  parts_->members.HearAll(env_.clock.Now());  // nobody could be heard while the log was read
  parts_->log.GoOn(found);                    // a job that is over lingers once that is written
  if (parts_->end.over()) return;
  parts_->departures.TakeUp(parts_->members);
  Begin();
}

void SchedulerNode::Begin() {
  parts_->ready = parts_->prepared || parts_->options.checkpoint.resume.empty();
  if (!parts_->members.gathered()) {
    gather_timer_ = env_.timers.After(parts_->options.gather_timeout, [this] { OnGatherTimeout(); });
  }
  ArmReview();
  const auto number = [this](const Result<std::uint64_t>& next) {
    // A job that goes on from its log knows where to go on counting.
    if (!next.ok() && !parts_->prepared)
      return Finish(next.status().WithContext("the folder of checkpoints"));
    parts_->writer.checkpoints().Start(next.ok() ? *next : 1, parts_->members.start(), env_.clock.Now());
  };
  const auto ready = [this] {
    // Nobody could be heard before.
    if (!std::exchange(parts_->ready, true)) parts_->members.HearAll(env_.clock.Now());
    parts_->prepared = true;
    if (!parts_->members.gathered() && parts_->members.Complete()) Gather();
  };
  parts_->folder.Open(!parts_->prepared,
                      {.resume = [this](const Manifest& manifest) { return parts_->Resume(manifest); },
                       .number = number,
                       .ready = ready,
                       .failed = [this](const Status& why) { Finish(why); }});
}

const std::string& SchedulerNode::address() const { return parts_->peers.address(); }

bool SchedulerNode::has_log() const { return parts_->log.is_read(); }

HeldPushes::Lacking SchedulerNode::Lacking() const { return parts_->Lacking(); }

std::string SchedulerNode::StatusJson() const {
  const Parts& parts = *parts_;
  parts_->peers.HearConnected(parts_->members);
  const TimePoint now = env_.clock.Now();
  const char* phase = parts.members.gathered() ? "running" : "gathering";
  return ToJson({parts.options.job, parts.end.over() ? "ended" : phase, parts.peers.epoch(), parts.started,
                 now, parts.members, parts.tables(), parts.departures.pools(), parts.reports,
                 parts.options.checkpoint, parts.writer.checkpoints(), parts.departures.lacking(),
                 AllServed(parts.members, parts.reports), parts.gathered - parts.started, parts.took_over});
}

Result<wire::pb::Welcome> SchedulerNode::OnHello(ConnectionId id, const wire::pb::Hello& hello) {
  // It asks again.
  if (!parts_->ready) return Unavailable("the scheduler is still reading where the job stands");
  wire::pb::Welcome welcome;
  FillJob(parts_->options.job, *welcome.mutable_job());
  welcome.set_epoch(parts_->peers.epoch().value());
  JobPeers::Peer peer{hello.role(), 0, hello.life()};
  ConnectionId older;
  Membership& members = parts_->members;
  if (hello.role() == wire::pb::ROLE_WORKER) {
    parts_->peers.TellShardsOfGone();  // a new life is in no roster of before it entered
    LW_ASSIGN_OR_RETURN(const auto admitted, members.AdmitWorker(hello, id, env_.clock.Now()));
    older = admitted.older;
    peer.seat = admitted.seat.rank.index();
    if (admitted.fresh && members.gathered()) {
      parts_->barriers.Forget(admitted.seat.rank);
      members.Enter(admitted.seat, parts_->peers.NextEpoch(),
                    std::max(parts_->Fastest() + 1, parts_->barriers.passed()));
      if (admitted.former && admitted.former->counted()) parts_->departures.OnDied(*admitted.former);
      env_.log.Write(LogLevel::kInfo,
                     fmt::format("worker {} joins the running job as incarnation {}",
                                 admitted.seat.rank.value(), admitted.seat.incarnation.value()));
    }
    welcome.set_incarnation(admitted.seat.incarnation.value());
  } else if (hello.role() == wire::pb::ROLE_SERVER) {
    // After the end nobody waits for the process before: a new one is only told that the job is over. Else it
    // has the time that a shard needs to come back after a lost connection.
    const LinkOptions& link = parts_->options.link;
    const Duration grace =
        parts_->end.over() ? Duration::zero() : Duration(std::max(link.hello_timeout, 2 * link.backoff_max));
    LW_ASSIGN_OR_RETURN(const auto found, members.FindShard(hello, env_.clock.Now(), grace));
    if (found.fresh && members.gathered() && !parts_->end.over())
      LW_RETURN_IF_ERROR(ReplaceShard(found.seat, hello.listen()));
    members.Seat(found.seat, hello, id, env_.clock.Now());
    older = found.older;
    peer.seat = found.seat.id.index();
  } else if (hello.role() == wire::pb::ROLE_MONITOR) {
    LW_RETURN_IF_ERROR(parts_->peers.CheckMonitors());
  }
  welcome.set_id(static_cast<std::uint32_t>(peer.seat));
  if (older != ConnectionId{}) {
    DropPeer(older);
    parts_->peers.Close(older, Status::Ok());
  }
  parts_->peers.Add(id, peer);
  return welcome;
}

void SchedulerNode::OnWelcomed(ConnectionId id) {
  const JobPeers::Peer peer = parts_->peers.at(id);
  Membership& members = parts_->members;
  if (parts_->end.over()) return parts_->peers.Send(id, wire::Kind::kJobEnd, parts_->end.Message());
  if (peer.role == wire::pb::ROLE_MONITOR) return;
  if (!members.gathered()) {
    if (parts_->prepared && members.Complete()) Gather();
    return;
  }
  if (peer.role == wire::pb::ROLE_SERVER) {
    SendAllTo(id);
    // The others hear where it is after it has been told what it owns.
    if (std::exchange(members.shards()[peer.seat].replaced, false)) parts_->peers.SendRosterToOthers(id);
    return;
  }
  WorkerSeat& seat = members.workers()[peer.seat];
  if (!seat.joining) {
    parts_->peers.Send(id, wire::Kind::kRoster, parts_->BuildRoster());
    parts_->rules.Tell(id, parts_->tables());
    return parts_->writer.AskForState(seat);
  }
  // It has come after the job began: everyone hears of it, and it of where it begins.
  parts_->peers.SendRosterToOthers(ConnectionId{});
  parts_->peers.WhenAcked(seat.entered, id, [this, id, &seat] {
    seat.joining = false;
    parts_->peers.Send(id, wire::Kind::kRoster, parts_->BuildRoster());
    parts_->writer.AskForState(seat);
    ReleaseBarriers();  // those that it comes too late for
  });
}

void SchedulerNode::SendAllTo(ConnectionId shard) {
  // The shard gets all tables, then the roster, then a map that says that this was all. The shard's
  // acknowledgement of an epoch covers all messages before it. So tables come before messages that ask for
  // one.
  JobPeers& peers = parts_->peers;
  wire::pb::TableMap map;
  parts_->tables().AddAllTo(map);
  if (map.tables_size() > 0) peers.Send(shard, wire::Kind::kTableMap, map);
  peers.Send(shard, wire::Kind::kRoster, parts_->BuildRoster());
  wire::pb::TableMap all;
  all.set_epoch(peers.epoch().value());
  // It may hold some that were withdrawn.
  all.set_tables_kept(static_cast<std::uint32_t>(parts_->tables().all().size()));
  peers.Send(shard, wire::Kind::kTableMap, all);
  const ShardId id(static_cast<std::uint32_t>(peers.at(shard).seat));
  if (const wire::pb::Cut* cut = parts_->writer.checkpoints().OpenFor(id))
    peers.Send(shard, wire::Kind::kCut, *cut);
}

void SchedulerNode::Gather() {
  env_.timers.Cancel(std::exchange(gather_timer_, {}));
  parts_->members.Gather(parts_->peers.NextEpoch());
  parts_->gathered = env_.clock.Now();
  // Shards first: the workers come to them as soon as they are told.
  for (const auto& [id, peer] : parts_->peers.all()) {
    if (peer.role == wire::pb::ROLE_SERVER) SendAllTo(id);
  }
  parts_->peers.SendRosterTo(wire::pb::ROLE_WORKER);
}

void SchedulerNode::OnGatherTimeout() {
  gather_timer_ = {};
  const double timeout_s = Seconds(parts_->options.gather_timeout);
  const std::string missing = parts_->members.Missing();
  if (parts_->prepared && parts_->members.Suffices(parts_->options.min_workers)) {
    env_.log.Write(LogLevel::kWarning,
                   fmt::format("the job begins without {}, after {:.1f} s", missing, timeout_s));
    return Gather();
  }
  Finish(DeadlineExceeded("the job did not gather within {:.1f} s: missing {}", timeout_s, missing));
}

void SchedulerNode::OnGone(ConnectionId id, Parting how, const Status& why) {
  const JobPeers::Peer peer = parts_->peers.at(id);
  DropPeer(id);
  parts_->log.CommitSoon();
  if (parts_->end.over()) {
    if (peer.role == wire::pb::ROLE_SERVER) {
      ShardSeat& seat = parts_->members.shards()[peer.seat];
      seat.connection = {};
      if (how != Parting::kLost) seat.done = true;
    }
    return parts_->end.OnGone(parts_->peers.all().empty());
  }
  if (peer.role == wire::pb::ROLE_WORKER) {
    LoseWorker(parts_->members.workers()[peer.seat], how, why);
  } else if (peer.role == wire::pb::ROLE_SERVER) {
    LoseShard(parts_->members.shards()[peer.seat], how, why);
  }
}

void SchedulerNode::DropPeer(ConnectionId id) {
  parts_->peers.Remove(id);
  parts_->writer.Forget(id);
  parts_->rules.Forget(id);
}

void SchedulerNode::LoseWorker(WorkerSeat& seat, Parting how, const Status& why) {
  seat.connection = {};
  seat.last_heard = env_.clock.Now();
  if (how == Parting::kLost) return;  // it may come back until it is expelled
  if (!parts_->members.gathered()) return parts_->members.Free(seat);
  if (seat.live() && why.ok()) {
    parts_->members.Leave(seat, parts_->peers.RaiseEpoch(), !parts_->departures.pools().IsDrawing(seat.rank));
    parts_->departures.OnDied(seat);
    AfterGone();
  } else if (seat.live()) {
    DeclareDead(seat, why.message());
  }
  seat.done = true;
  CheckDone();
}

void SchedulerNode::DeclareDead(WorkerSeat& seat, const std::string& why) {
  env_.log.Write(LogLevel::kWarning, fmt::format("worker {} is dead: {}", seat.rank.value(), why));
  seat.ended_because = why;
  const SchedulerOptions& options = parts_->options;
  const OnWorkerLoss what = options.on_worker_loss;
  const bool keep = what == OnWorkerLoss::kWait || parts_->members.LiveCount() <= options.min_workers;
  if (keep) {
    parts_->members.Lose(seat, env_.clock.Now());
    // Until another life takes its place.
    parts_->departures.pools().AwaitSettle({seat.rank, seat.incarnation});
  } else {
    parts_->members.Die(seat, parts_->peers.RaiseEpoch());
    parts_->departures.OnDied(seat);
  }
  if (const ConnectionId id = std::exchange(seat.connection, {}); id != ConnectionId{}) {
    DropPeer(id);
    parts_->peers.Close(id, Fenced("worker {} incarnation {} was declared dead: {}", seat.rank.value(),
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
                             seat.rank.value(), Seconds(options.gather_timeout)));
}

void SchedulerNode::AfterGone() {
  parts_->peers.OnMemberGone(parts_->members.LiveCount() == 0);
  ReleaseBarriers();
}

void SchedulerNode::LoseShard(ShardSeat& seat, Parting how, const Status& why) {
  seat.connection = {};
  seat.last_heard = env_.clock.Now();
  if (how == Parting::kLost) return;  // it may come back until it has been silent for too long
  if (!parts_->members.gathered()) return parts_->members.Free(seat);
  seat.done = true;
  AwaitShard(
      seat, fmt::format("ended while the job was running: {}", why.ok() ? "it said goodbye" : why.message()));
}

void SchedulerNode::AwaitShard(ShardSeat& seat, const std::string& what) {
  if (AllServed(parts_->members, parts_->reports)) {
    seat.done = true;  // nobody needs it, nor another in its place
    return;
  }
  if (parts_->AwaitsFirstCheckpoint()) return;  // the next review decides
  if (!parts_->MayReplace()) return Finish(parts_->restore_point.LostServer(seat, what));
  seat.awaited = true;
  seat.last_heard = env_.clock.Now();
  if (const ConnectionId id = std::exchange(seat.connection, {}); id != ConnectionId{}) {
    DropPeer(id);
    // Should it be heard of again before another has its place, it goes on as before.
    parts_->peers.Close(id, Unavailable("server {} shard {} {}", seat.server.value(), seat.shard, what));
  }
  env_.log.Write(LogLevel::kWarning,
                 fmt::format("server {} shard {} at {} {}; the job waits {:.1f} s for another process in its "
                             "place: start one with --server {}",
                             seat.server.value(), seat.shard, seat.address, what,
                             Seconds(parts_->options.gather_timeout), seat.server.value()));
}

Status SchedulerNode::ReplaceShard(ShardSeat& seat, const std::string& address) {
  const RestorePoint& restore_point = parts_->restore_point;
  if (parts_->AwaitsFirstCheckpoint()) {
    // It asks again.
    return Unavailable("the first checkpoint of the job \"{}\" is being written", parts_->options.job.job);
  }
  if (!parts_->MayReplace()) {
    const Status why = restore_point.LostServer(
        seat, fmt::format("is gone: a new process at {} asks for its place", address));
    Finish(why);
    return why;
  }
  const Result<std::size_t> blocks = restore_point.Replace(seat.id, parts_->tables());
  if (!blocks.ok()) {
    Finish(restore_point.LostServer(
        seat, fmt::format("is gone, and cannot be replaced: {}", blocks.status().message())));
    return blocks.status();
  }
  parts_->writer.OnReplaced(seat, parts_->Fastest());
  // Ended by whoever waited for a checkpoint that was given up: the new process hears so.
  if (parts_->end.over()) return Status::Ok();
  parts_->members.Replace(seat, parts_->peers.NextEpoch());
  parts_->peers.ResetAcks(seat.id);  // the new process has nothing in force yet
  parts_->departures.OnReplaced(seat.id);
  env_.log.Write(LogLevel::kWarning,
                 fmt::format("server {} shard {} at {} is replaced by a process at {}: its blocks ({}) {}",
                             seat.server.value(), seat.shard, seat.address, address, *blocks,
                             restore_point.Describe(parts_->Fastest())));
  return Status::Ok();
}

void SchedulerNode::ArmReview() {
  review_due_ = env_.clock.Now() + parts_->options.link.beat;
  review_timer_ = env_.timers.After(parts_->options.link.beat, [this] {
    Review();
    parts_->log.CommitSoon();
    if (!parts_->end.over()) ArmReview();
  });
}

void SchedulerNode::Review() {
  if (!parts_->ready) return;  // nobody is let in yet: nobody can be silent
  Membership& members = parts_->members;
  parts_->peers.HearConnected(members);
  const TimePoint now = env_.clock.Now();
  if (const Duration pause = OwnPause(review_due_, now, parts_->options.link.beat);
      pause > Duration::zero()) {
    env_.log.Write(
        LogLevel::kWarning,
        fmt::format("the scheduler stood still for {:.1f} s; it counts as nobody's silence", Seconds(pause)));
    members.DiscountPause(pause, now);
    parts_->waits.DiscountPause(pause);
  }
  ReviewSilence(now);
  if (!parts_->end.over()) CheckDone();
  if (parts_->end.over()) return;
  if (members.gathered()) {
    const auto give_up = [this](WorkerId rank, const std::string& why) {
      DeclareDead(parts_->members.workers()[rank.index()], why);
      return !parts_->end.over();
    };
    const auto round = ReviewWaits(
        parts_->waits, {members, parts_->options.wait_max, parts_->peers.epoch(), now, env_.log, give_up});
    if (!round.ok()) return Finish(round.status());
    if (parts_->end.over()) return;
    if (*round) {
      wire::pb::Why why;
      why.set_request((*round)->number);
      for (const WorkerId rank : (*round)->asked)
        parts_->peers.Send(members.workers()[rank.index()].connection, wire::Kind::kWhy, why);
    }
  }
  // By the first iteration the workers have made their tables.
  if (!parts_->tables().all().empty() && parts_->Fastest() > members.start())
    parts_->rules.NameUnused(parts_->tables());
  parts_->rules.Review([this](Epoch epoch) {
    std::vector<std::string> names;
    for (const ShardId id : parts_->peers.Unacked(epoch)) {
      const ShardSeat& seat = parts_->members.shards()[id.index()];
      names.push_back(fmt::format("server {} shard {} at {}", seat.server.value(), seat.shard, seat.address));
    }
    return names;
  });
  ReviewCheckpoints();
}

void SchedulerNode::ReviewSilence(TimePoint now) {
  const SchedulerOptions& options = parts_->options;
  Membership& members = parts_->members;
  const Silence silence =
      members.Review(now, {options.suspect_after, options.expel_after, options.gather_timeout});
  for (const WorkerId rank : silence.suspected) {
    env_.log.Write(LogLevel::kWarning, fmt::format("worker {} has been silent for {:.1f} s or more",
                                                   rank.value(), Seconds(options.suspect_after)));
  }
  for (const WorkerId rank : silence.expelled) {
    WorkerSeat& seat = members.workers()[rank.index()];
    if (members.gathered()) {
      DeclareDead(seat, fmt::format("silent for {:.1f} s", Seconds(options.expel_after)));
      if (parts_->end.over()) return;
    } else if (seat.connection == ConnectionId{}) {
      members.Free(seat);
    }
  }
  for (const WorkerId rank : silence.unreplaced) {
    return Finish(Unavailable("worker {} died, and nobody took its place within {:.1f} s", rank.value(),
                              Seconds(options.gather_timeout)));
  }
  for (const ShardId id : silence.lost) {
    ShardSeat& seat = members.shards()[id.index()];
    if (members.gathered()) {
      AwaitShard(seat, fmt::format("has been silent for {:.1f} s", Seconds(options.expel_after)));
      if (parts_->end.over()) return;
    } else if (seat.connection == ConnectionId{}) {
      members.Free(seat);
    }
  }
  for (const ShardId id : silence.unreplaced_shards) {
    return Finish(parts_->restore_point.LostServer(
        members.shards()[id.index()],
        fmt::format("was lost, and nobody took its place within {:.1f} s", Seconds(options.gather_timeout))));
  }
}

void SchedulerNode::ReviewCheckpoints() {
  if (parts_->end.over() || !parts_->members.gathered() || parts_->tables().all().empty()) return;
  parts_->departures.pools().KeepFrom(parts_->writer.KeepBatchesFrom(parts_->tables()));
  parts_->writer.Review(parts_->AsCut(), parts_->folder.taken());
}

void SchedulerNode::CheckDone() {
  const Membership& members = parts_->members;
  if (parts_->end.over() || !members.AllDone() || parts_->EndWaits()) return;
  Finish(members.AnyLeft() ? Status::Ok() : Unavailable("all {} workers died", members.workers().size()));
}

void SchedulerNode::Finish(const Status& why) {
  if (parts_->end.over()) return;
  parts_->end.Begin(why);
  env_.timers.Cancel(std::exchange(gather_timer_, {}));
  env_.timers.Cancel(std::exchange(review_timer_, {}));
  parts_->Stop();
  parts_->peers.SendToAll(wire::Kind::kJobEnd, parts_->end.Message());
  if (!parts_->log.writes()) return parts_->end.Linger(parts_->peers.all().empty());
  parts_->log.CommitSoon();  // it lingers once that is in the log
}

void SchedulerNode::OnLogLost(const Status& why) {
  if (!parts_->end.over()) return Finish(why);
  // The end alone is told, though it is in no log.
  parts_->peers.SendToAll(wire::Kind::kJobEnd, parts_->end.Message());
  parts_->end.Linger(parts_->peers.all().empty());
}

void SchedulerNode::Stop(const Status& why) {
  if (!parts_->end.lingers() || !parts_->end.outcome().ok()) return Finish(why);
  parts_->end.EndSoon();
}

}  // namespace leeway
