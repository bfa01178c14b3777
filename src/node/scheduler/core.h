// SchedulerNode::Core: routes events to the modules and sends what they lead to. All decisions are theirs.
//
// core.cc has its life: start, hellos, losses, silence, the end; core_frames.cc what it does with each frame;
// core_checkpoints.cc the checkpoints.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "node/inbound.h"
#include "node/scheduler/barriers.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/checkpoint_files.h"
#include "node/scheduler/checkpoints.h"
#include "node/scheduler/epoch_acks.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/reports.h"
#include "node/scheduler/scheduler_node.h"
#include "node/scheduler/table_registry.h"
#include "wire/kind.h"

namespace leeway {

class SchedulerNode::Core final : private InboundEvents {
 public:
  Core(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
       std::function<void(const Status&)> ended);
  ~Core() override;

  [[nodiscard]] Status Start();
  void Stop(const Status& why) { Finish(why); }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::string Json();

 private:
  // Module sizes come from the job, so a job that is out of bounds must not reach them; Start then says why.
  Core(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
       std::function<void(const Status&)> ended, Status checked);

  struct Peer {
    wire::pb::Role role = wire::pb::ROLE_NONE;
    std::size_t seat = 0;  // of a worker: its rank; of a shard: its dense id
  };

  // Hellos and losses.
  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) override;
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
  void AfterGone(const WorkerSeat& seat);
  void DropPeer(ConnectionId id);
  void SendRoster();

  // Checkpoints (core_checkpoints.cc).
  void PrepareCheckpoints();
  [[nodiscard]] Status Resume(const Manifest& manifest);
  void ReviewCheckpoints();
  void BeginCheckpoint();
  // Tables were made, and every shard has them.
  void OnTablesMade();
  Status TakeCutReply(const ShardSeat& seat, std::span<const std::byte> body);
  void PublishCheckpoint();
  void GiveUpCheckpoint(const std::string& why);
  [[nodiscard]] Result<Manifest> BuildManifest() const;

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
  [[nodiscard]] bool ShardsKnow() const;
  void OnLingered();
  void End();

  // Frames.
  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                 Landing landing) override;
  Status TakeWorkerFrame(ConnectionId id, WorkerSeat& seat, wire::Kind kind, std::span<const std::byte> body);
  Status TakeShardFrame(const ShardSeat& seat, wire::Kind kind, std::span<const std::byte> body);
  Status TakeReport(NodeReport& report, std::span<const std::byte> body);
  Status TakeStatusRequest(ConnectionId id, std::span<const std::byte> body);
  Status TakeDefineTables(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeBarrier(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeLease(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeLeave(ConnectionId id, WorkerSeat& seat);
  void ReleaseBarriers();

  const SchedulerOptions options_;
  Env& env_;
  const std::function<void(const Status&)> ended_;
  const Status checked_;
  std::string address_;
  TimePoint started_;
  Epoch epoch_;
  bool prepared_ = false;  // what it begins from, and where checkpoints go on, is known
  bool over_ = false;      // the job is over; everyone has been told
  bool finished_ = false;  // `ended_` was called
  Status outcome_;
  TimePoint over_since_;
  TimePoint review_due_;
  TimerId gather_timer_, review_timer_, linger_timer_;

  Membership members_;
  TableRegistry tables_;
  EpochAcks acks_;
  Barriers barriers_;
  BatchPools pools_;
  Reports reports_;
  Checkpoints checkpoints_;
  CheckpointFiles files_;
  std::map<ConnectionId, Peer> peers_;  // welcomed, or about to be
  Inbound inbound_;
};

}  // namespace leeway
