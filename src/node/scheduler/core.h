// SchedulerNode::Core: routes events to the modules and sends what they lead to. All decisions are theirs.
//
// core.cc has its life: start, hellos, losses, silence, the end; core_frames.cc what it does with each frame;
// core_checkpoints.cc the checkpoints, core_ranks.cc the workers' part of them, core_checkpoint_requests.cc
// those that someone asks for; core_servers.cc servers that die; core_lives.cc lives of workers that end
// without leaving; core_set_sync.cc other synchronization while the job runs; core_tables.cc tables that
// shards refuse; core_log.cc the log: reading it, and what may be said when; core_waits.cc workers that wait
// for others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "node/inbound.h"
#include "node/scheduler/barriers.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/checkpoint_files.h"
#include "node/scheduler/checkpoint_requests.h"
#include "node/scheduler/checkpoints.h"
#include "node/scheduler/cut_moments.h"
#include "node/scheduler/ended_lives.h"
#include "node/scheduler/epoch_acks.h"
#include "node/scheduler/folder_lock.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/rank_states.h"
#include "node/scheduler/reports.h"
#include "node/scheduler/scheduler_log.h"
#include "node/scheduler/scheduler_node.h"
#include "node/scheduler/set_sync_answers.h"
#include "node/scheduler/sync_switches.h"
#include "node/scheduler/table_registry.h"
#include "node/scheduler/wait_graph.h"
#include "wire/kind.h"

namespace leeway {

class SchedulerNode::Core final : private InboundEvents, private SchedulerLogEvents {
 public:
  Core(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
       std::function<void(const Status&)> ended);
  ~Core() override;

  [[nodiscard]] Status Start();
  // Of a job that ended well: no longer waits for shards that lost their connection.
  void Stop(const Status& why);
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] bool has_log() const { return log_ == nullptr || log_read_; }
  [[nodiscard]] std::string Json();
  [[nodiscard]] HeldPushes::Lacking Lacking() const;
  void RequestCheckpoint(CheckpointRequests::Done done);

 private:
  // Module sizes come from the job, so a job that is out of bounds must not reach them; Start then says why.
  Core(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
       std::function<void(const Status&)> ended, Status checked);

  struct Peer {
    wire::pb::Role role = wire::pb::ROLE_NONE;
    std::size_t seat = 0;  // of a worker: its rank; of a shard: its dense id
    std::uint64_t life = 0;
    std::uint32_t unread = 0;  // status requests since an answer that it has not read
  };

  // All that Start does once it is known where the job stands.
  void Begin();

  // Hellos and losses.
  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) override;
  [[nodiscard]] Status CheckMonitors() const;
  void OnWelcomed(ConnectionId id) override;
  void OnGone(ConnectionId id, Parting how, const Status& why) override;
  void LoseWorker(WorkerSeat& seat, Parting how, const Status& why);
  void LoseShard(ShardSeat& seat, Parting how, const Status& why);
  // A life is over: what the job does about it. A connection it still has is closed: it must not go on.
  void Bury(WorkerSeat& seat, const std::string& why);
  // A shard has come (back) to the running job: all that it must know.
  void Instruct(ConnectionId shard);
  // A worker has come after the job began: everyone hears of it, and it of where it begins.
  void Welcome(ConnectionId id, WorkerSeat& seat);
  // The highest iteration that any worker reported.
  [[nodiscard]] Iteration Fastest() const;
  void OnGatherTimeout();
  void Gather();
  // What a leave and a death have in common.
  void AfterGone();
  // Lives that end without leaving (core_lives.cc).
  // The roster that follows asks the shards what they hold of the life. REQUIRES: epoch_ is that roster's.
  void EndLife(const WorkerSeat& seat);
  // A launcher saw their processes end: these lives are dead at once, without waiting for expel_after.
  void TakeEndedProcesses(const wire::pb::StatusRequest& request);
  void SettleLife(MemberKey life);
  // A server that dies may be replaced from a checkpoint: what has ended since then must stay known.
  [[nodiscard]] bool MayPatch() const;
  // When every shard has taken the roster of epoch_, it has answered.
  void AskOfEndedLives(std::span<const MemberKey> lives);
  // After the log was read: asks the shards again.
  void TakeUpEndedLives();
  [[nodiscard]] wire::pb::Roster BuildRoster() const;
  // Requests for batches that wait until it is known what a life left behind.
  void LendWaiting();
  void DropPeer(ConnectionId id);
  void SendRoster() { SendRosterToOthers(ConnectionId{}); }
  void SendRosterToOthers(ConnectionId than);
  void SendRosterTo(wire::pb::Role role);
  // Who hears of those that are gone, of several together while many go; of the last at once.
  struct GoneNotice {
    wire::pb::Role role;
    bool first_at_once;
    Duration pause;  // after the first that is not told, or after one that is
    TimerId timer = {};
    bool untold = false;  // some are, until the timer
  };
  void TellWhoIsGone(GoneNotice& notice);
  // Of a change that is sent to the shards at once. An acknowledgement covers what came before it, so they
  // hear first who is gone.
  [[nodiscard]] Epoch NextEpoch();
  // What they have not heard of leavers yet.
  void TellShardsBefore();

  // Servers that die (core_servers.cc).
  // Its process is gone: the job waits for another one if that can go on where this one was, else it ends.
  void AwaitShard(ShardSeat& seat, const std::string& what);
  // Whether the job can go on with another process in the place of a shard: from a checkpoint, or with empty
  // blocks while nobody has trained anything as far as the reports tell (TakeDefineTables knows exactly).
  [[nodiscard]] bool MayReplace() const;
  // The first checkpoint of the job is about to be whole: whether a shard can be replaced is open until then.
  [[nodiscard]] bool AwaitsFirstCheckpoint() const {
    return options_.on_server_loss != OnServerLoss::kFail && !last_checkpoint_ && checkpoints_.publishing();
  }
  // Every worker that is still there has left and has its final values: a server's death harms nobody.
  [[nodiscard]] bool AllServed() const;
  // What a shard needs to come back after a lost connection.
  [[nodiscard]] Duration ShardGrace() const {
    return std::max(options_.link.hello_timeout, 2 * options_.link.backoff_max);
  }
  // Another process takes the seat: its blocks go on from the last checkpoint, or empty.
  [[nodiscard]] Status ReplaceShard(ShardSeat& seat, const std::string& address);
  // "server 1 shard 0 at ... <what>", and what the job can be begun from again.
  [[nodiscard]] Status LostServer(const ShardSeat& seat, const std::string& what) const;

  // Checkpoints (core_checkpoints.cc).
  void PrepareCheckpoints();
  void ReadResume(const std::function<void()>& then);
  [[nodiscard]] Status Resume(const Manifest& manifest);
  // Those that were in force when it was written, if this job begins with the first of them or names none: so
  // a switch outlives the run in which it was made. One that names others has these alone, and is told what
  // it lacks.
  void TakeUpRules(const Manifest& manifest);
  void ReviewCheckpoints();
  void BeginCheckpoint();
  // Tables were made, and every shard has them.
  void OnTablesMade();
  Status TakeCutReply(const ShardSeat& seat, std::span<const std::byte> body);
  void PublishCheckpoint();
  // Whoever asked for it is told, and may end the job from inside: look at over_ before going on.
  void GiveUpCheckpoint(const std::string& why);
  [[nodiscard]] Result<Manifest> BuildManifest() const;
  void TellShardsOfCut();
  // Of a cut that takes blocks at once: when every worker has given its state.
  void TellShardsIfGiven();
  // Where each rank goes on from it, and what blocks lack below that. Returns by rank where the pushes end
  // that any block holds.
  [[nodiscard]] std::vector<Iteration> SetBegins(Manifest& manifest) const;
  // One is under way, or over: batches that it may not hold stay known.
  void KeepBatchesOfCut();
  // The workers' part of them (core_ranks.cc).
  [[nodiscard]] RankStates::Moment MomentOfCut() { return moments_.Of(tables_.all()); }
  // Sends the worker the cut under way, if its state is wanted.
  void AskForState(const WorkerSeat& seat);
  Status TakeRankState(const WorkerSeat& seat, std::span<const std::byte> body);
  // Once all shards have written and no worker is waited for.
  void PublishIfWhole();
  [[nodiscard]] std::string WhoIsMissing() const;

  // Checkpoints that are asked for (core_checkpoint_requests.cc).
  // kNotFound: the job has no tables yet. kFailedPrecondition: it is over, or writes no checkpoints.
  [[nodiscard]] Status MayCheckpoint() const;
  Status TakeCheckpointRequest(ConnectionId id, std::span<const std::byte> body);
  // One has just become whole.
  void AnswerCheckpointRequests();

  // The log (core_log.cc). Without one, all of it does nothing.
  void OpenLog();
  [[nodiscard]] Status Replay(const DecodedLog& log);
  // Reads what a lost server's blocks go on from: the last of `folders` that is a checkpoint, or the one that
  // the job began from. One that is there and cannot be read does not end the job, but is spoken of until
  // another is whole: a server that is lost meanwhile goes on from an older one, or not at all.
  void FindLastCheckpoint(std::vector<std::string> folders, const std::function<void()>& then);
  // The log has been read, and was there or not.
  void GoOn(bool found);
  [[nodiscard]] wire::pb::LoggedJob StateOfJob() const;
  // What has changed since the last call; how safe it must be before it is announced, if anything has.
  [[nodiscard]] std::optional<SchedulerLog::Safety> AddChanges(wire::pb::LogRecord& record);
  // After the event under way: writes what has changed, and lets go what waited for no more than that.
  void CommitSoon();
  void Commit();
  wire::pb::LogRecord Snapshot() override;
  void OnWritten() override;
  void OnGivenUp(const Status& why) override;

  // Silence.
  void ArmReview();
  void Review();
  void HearConnected();

  // The end.
  void CheckDone();
  // Tells everyone, then waits a moment for them to go, so that the word reaches them before the process
  // ends. After a good end a shard that lost its connection meanwhile is waited for until it comes back:
  // without the word it would take the end of the scheduler for a failure.
  void Finish(const Status& why);
  void SendJobEnd(ConnectionId id);
  void Linger();
  [[nodiscard]] bool ShardsKnow() const;
  void OnLingered();
  void End();

  // Frames.
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                 Landing&& landing) override;
  Status TakeWorkerFrame(ConnectionId id, WorkerSeat& seat, wire::Kind kind, std::span<const std::byte> body);
  Status TakeShardFrame(const ShardSeat& seat, wire::Kind kind, std::span<const std::byte> body);
  Result<wire::pb::Report> TakeReport(NodeReport& report, std::uint64_t life,
                                      std::span<const std::byte> body);
  Status TakeStatusRequest(ConnectionId id, std::span<const std::byte> body);
  Status TakeDefineTables(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  // Tables that shards refuse (core_tables.cc).
  // Definitions are made one after the other: one that would make tables waits until the one before is
  // settled.
  Status Define(ConnectionId id, const WorkerSeat& seat, const wire::pb::DefineTables& request);
  // Every shard has answered to the tables that were made last. Those that one refused are withdrawn.
  void Settle();
  // An error ends the job: a table that is in use was refused.
  [[nodiscard]] Status TakeRefusals(const ShardSeat& seat, const wire::pb::EpochAck& ack);
  Status TakeBarrier(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeLease(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeLeave(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body);
  // Another synchronization model (core_set_sync.cc).
  // Whether the job has begun, has tables, and is not over.
  [[nodiscard]] Status CheckTraining() const;
  Status TakeSetSync(ConnectionId id, std::span<const std::byte> body);
  // What becomes of one that was not asked before. The tables that have it now are told so.
  [[nodiscard]] SetSyncAnswers::Answer SetRule(const std::string& rule);
  // These tables have another one, for every shard and worker, as a new epoch.
  void AnnounceSync(std::span<const TableId> tables);
  // A worker is back: what it may have missed.
  void TellSync(ConnectionId worker);
  // Once training is under way: of the rules that the job began with, those that mean no table are slips.
  void ReviewRules();
  // Answers those that have waited long enough for shards.
  void ReviewSwitches();
  // A worker that has waited for long asks (core_why.cc).
  Status TakeWhy(ConnectionId id, const WorkerSeat& asks, std::span<const std::byte> body);
  void ReleaseBarriers();
  [[nodiscard]] std::vector<Barriers::Member> BarrierMembers() const;
  // Workers that wait for others (core_waits.cc).
  Status TakeWhyReply(const WorkerSeat& seat, std::span<const std::byte> body);
  // Ends a job whose members wait for each other. Gives up workers that make no progress, and names those
  // that are waited for.
  void ReviewWaits();
  // A worker lives and makes no call, and others wait for it.
  void ReviewIdle(const WaitGraph::Idle& who);

  const SchedulerOptions options_;
  Env& env_;
  const std::function<void(const Status&)> ended_;
  const Status checked_;
  std::string address_;
  TimePoint started_;
  Epoch epoch_;
  bool ready_ = false;     // where the job stands is known: peers are let in
  bool prepared_ = false;  // what it begins from, and where checkpoints go on, is known
  bool over_ = false;      // the job is over; everyone has been told
  bool lingers_ = false;   // the end is in the log, and on its way to everyone
  bool finished_ = false;  // `ended_` was called
  Status outcome_;
  TimePoint over_since_;
  TimePoint review_due_;
  TimerId gather_timer_, review_timer_, linger_timer_, commit_timer_;
  GoneNotice shards_hear_, workers_hear_;

  bool log_read_ = false;
  bool over_before_ = false;           // the log that was found says that the job is over
  std::string resumed_from_;           // as the log knows it
  Iteration fastest_before_{-1};       // as the log knows it
  wire::pb::LoggedJob logged_;         // as at the last AddChanges
  std::uint64_t covered_ = 0;          // the write under way covers all that was said up to here
  std::unique_ptr<SchedulerLog> log_;  // null: none is kept, or it was given up

  Membership members_;
  TableRegistry tables_;
  EpochAcks acks_;
  // Tables that no worker has heard of yet: they can still be withdrawn.
  struct Unsettled {
    std::size_t tables_before = 0;
    Epoch epoch{};     // in which they were made, or withdrawn
    Status refusal{};  // the first
    bool withdrawn = false;
  };
  std::optional<Unsettled> unsettled_;
  Status last_refusal_;
  SyncSwitches switches_;
  SetSyncAnswers set_syncs_;
  bool rules_reviewed_ = false;
  Epoch synced_at_;  // of the last change of synchronization while this process runs
  Barriers barriers_;
  WaitGraph waits_;
  BatchPools pools_;
  EndedLives ended_lives_;
  std::map<MemberKey, Iteration>
      settled_at_cut_;           // by life: what had its verdict when the last cut was begun
  HeldPushes::Lacking lacking_;  // of lives that ended, and of the checkpoint that the job began from
  // By rank and pool.
  std::map<std::pair<WorkerId, std::string>, std::pair<ConnectionId, wire::pb::LeaseBatches>> waiting_leases_;
  Reports reports_;
  Checkpoints checkpoints_;
  CutMoments moments_;
  RankStates rank_states_;
  CheckpointRequests requests_;
  CheckpointFiles files_;
  FolderLock folder_lock_;
  // The newest whole checkpoint that this job wrote or began from: what a lost server's blocks go on from.
  struct LastCheckpoint {
    Manifest manifest;
    std::string folder;
    bool of_this_run = false;
  };
  std::optional<LastCheckpoint> last_checkpoint_;
  std::string unread_;  // a newer one that could not be read at the start, and why; empty: there is none
  std::map<ConnectionId, Peer> peers_;  // welcomed, or about to be
  Inbound inbound_;
};

}  // namespace leeway
