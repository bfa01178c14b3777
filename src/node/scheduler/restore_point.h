// RestorePoint: the checkpoint that a lost server's blocks go on from: the newest whole one that this job
// wrote or began from.
//
// A newer checkpoint that cannot be read does not end the job. It is named in every message about a lost
// server until another one is whole: meanwhile such a server goes on from an older checkpoint, or not at all.
// Thread rule: that of Storage. Lives as long as its reads are under way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/checkpoint_files.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/table_registry.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class RestorePoint {
 public:
  struct Checkpoint {
    Manifest manifest;
    std::string folder;
    bool of_this_run = false;
  };

  // Borrows env.
  RestorePoint(Env& env, OnServerLoss on_server_loss)
      : log_(env.log), files_(env.storage, env.log), on_server_loss_(on_server_loss) {}

  [[nodiscard]] const std::optional<Checkpoint>& last() const { return last_; }
  // The job begins from this checkpoint. The log says so, and what a fuzzy one means.
  void BeginFrom(const Manifest& manifest, const std::string& folder);
  // The job has written this checkpoint.
  void OnWhole(const Manifest& manifest, const std::string& folder);
  // After the log was read: reads the newest checkpoint of `folders`, newest first, or the one that the job
  // began from. `then` is not called after Stop.
  void Find(std::vector<std::string> folders, const std::function<void()>& then);
  // The job is over.
  void Stop() { stopped_ = true; }

  // Whether the job can go on with another process in the place of a shard: from a checkpoint, or with empty
  // blocks as long as nobody has `trained`.
  [[nodiscard]] bool MayReplace(bool trained) const;
  // A server that dies may be replaced from a checkpoint, now or later.
  [[nodiscard]] bool MayPatch(bool writes_checkpoints) const {
    return on_server_loss_ == OnServerLoss::kPatch && (writes_checkpoints || last_);
  }
  // The first checkpoint of the job is about to be whole: whether a shard can be replaced is open until then.
  [[nodiscard]] bool AwaitsFirst(bool publishing) const {
    return on_server_loss_ != OnServerLoss::kFail && !last_ && publishing;
  }
  // Another process has the shard: its blocks go on from the last checkpoint, or empty. Returns how many
  // blocks they are.
  [[nodiscard]] Result<std::size_t> Replace(ShardId shard, TableRegistry& tables) const;
  // "go on from checkpoint 3 of iteration 20 (the fastest worker is in 22)", for the log.
  [[nodiscard]] std::string Describe(Iteration fastest) const;
  // "server 1 shard 0 at ... <what>", and what the job can be begun from again.
  [[nodiscard]] Status LostServer(const ShardSeat& seat, const std::string& what) const;

  void AddTo(wire::pb::LoggedJob& job) const;
  void Apply(const wire::pb::LoggedJob& job) { resumed_from_ = job.resumed_from(); }

 private:
  void ReadNext(std::vector<std::string> folders, const std::function<void()>& then);

  Log& log_;
  CheckpointFiles files_;
  const OnServerLoss on_server_loss_;
  std::optional<Checkpoint> last_;
  std::string resumed_from_;  // as the log knows it
  std::string unread_;        // a newer one that could not be read, and why; empty: all could be read
  bool stopped_ = false;
};

}  // namespace leeway
