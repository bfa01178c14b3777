// SchedulerNode: membership, placement, barriers, batch pools, checkpoints and status of one job. Not on the
// path of any push or pull.
//
// A single-threaded state machine over Env that routes events to its parts, one file each in this folder.
// scheduler_node.cc has the life of the job: start, hellos, losses, silence, the end; scheduler_frames.cc has
// the frames of its peers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "leeway/env.h"
#include "leeway/options.h"
#include "node/inbound.h"
#include "node/scheduler/checkpoint_requests.h"
#include "node/scheduler/held_pushes.h"
#include "node/scheduler/scheduler_policies.h"

namespace leeway {

struct ShardSeat;
struct WorkerSeat;

class SchedulerNode final : private InboundEvents {
 public:
  // `ended` is called once: ok when every worker has left and said goodbye, else why the job cannot go on.
  SchedulerNode(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
                std::function<void(const Status&)> ended);
  ~SchedulerNode() override;

  // Checks the options and listens.
  [[nodiscard]] Status Start();
  // Ends the job for everyone, with `why` as the reason: all are told, and `ended` follows once they have
  // gone (or after link.hello_timeout). A job that ended well waits no longer for shards that lost their
  // connection.
  void Stop(const Status& why);
  [[nodiscard]] const std::string& address() const;
  // The log is read, and no other process has it; also when none is kept.
  [[nodiscard]] bool has_log() const;
  // The state of the job as JSON: phase, epoch, members, shards, tables, per-node figures, job totals.
  [[nodiscard]] std::string StatusJson() const;
  // Pushes that blocks lack, as far as the job knows: what its workers have reported, and what it has
  // counted.
  [[nodiscard]] HeldPushes::Lacking Lacking() const;
  // A checkpoint now, whatever the options say. `done` is called once: when it is whole or given up, or at
  // once when there can be none.
  void RequestCheckpoint(CheckpointRequests::Done done);

 private:
  struct Parts;  // a struct of its own: keeps their headers out of this one

  // The log has been read; `found`: there was one.
  void GoOn(bool found);
  // All that Start does once it is known where the job stands.
  void Begin();
  void Gather();
  void OnGatherTimeout();
  // Once a beat: silence, waits, rules and checkpoints.
  void ArmReview();
  void Review();
  // Members that have been silent for too long.
  void ReviewSilence(TimePoint now);
  void ReviewCheckpoints();
  void CheckDone();
  // Tells everyone that the job is over, and why.
  void Finish(const Status& why);
  // The log cannot be written any more.
  void OnLogLost(const Status& why);

  Result<wire::pb::Welcome> OnHello(ConnectionId id, const wire::pb::Hello& hello) override;
  void OnWelcomed(ConnectionId id) override;
  void OnGone(ConnectionId id, Parting how, const Status& why) override;
  void DropPeer(ConnectionId id);
  void LoseWorker(WorkerSeat& seat, Parting how, const Status& why);
  // A life is over: what the job does about it. A connection it still has is closed: it must not go on.
  void DeclareDead(WorkerSeat& seat, const std::string& why);
  // A member has left or died: the others hear of it, and barriers wait for it no more.
  void AfterGone();
  void LoseShard(ShardSeat& seat, Parting how, const Status& why);
  // Its process is gone: the job waits for another one if that can go on where this one was, else it ends.
  void AwaitShard(ShardSeat& seat, const std::string& what);
  // Another process takes the seat: its blocks go on from the last checkpoint, or empty.
  [[nodiscard]] Status ReplaceShard(ShardSeat& seat, const std::string& address);
  // A shard has come (back) to the running job: all that it must know.
  void SendAllTo(ConnectionId shard);
  void ReleaseBarriers();

  Result<Landing> OnFrameStart(ConnectionId id, const FrameHead& head,
                               std::span<const std::byte> body) override;
  Status OnFrame(ConnectionId id, const FrameHead& head, std::span<const std::byte> body,
                 Landing&& landing) override;
  Status TakeWorkerFrame(ConnectionId id, WorkerSeat& seat, wire::Kind kind, std::span<const std::byte> body);
  Status TakeShardFrame(const ShardSeat& seat, wire::Kind kind, std::span<const std::byte> body);
  Status TakeStatusRequest(ConnectionId id, std::span<const std::byte> body);
  Status TakeCheckpointRequest(ConnectionId id, std::span<const std::byte> body);
  Status TakeDefineTables(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeBarrier(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeWhy(ConnectionId id, const WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeLease(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body);
  Status TakeLeave(ConnectionId id, WorkerSeat& seat, std::span<const std::byte> body);

  Env& env_;
  const std::unique_ptr<Parts> parts_;
  TimePoint review_due_;
  TimerId gather_timer_, review_timer_;
};

}  // namespace leeway
