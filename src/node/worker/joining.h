// Joining: how a worker gets its place in the job, and what the scheduler has told it since: its rank, the
// job's options, the members and shards.
//
// Makes the hellos and the links to the shards, and takes welcomes and rosters; the node connects. Thread
// rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/link.h"
#include "node/worker/roster_view.h"
#include "node/worker/worker_identity.h"
#include "wire/control.pb.h"

namespace leeway {

class Joining {
 public:
  // `life` names this process to the scheduler: no other has it.
  Joining(const WorkerOptions& options, std::uint64_t life) : options_(options), life_(life) {}

  [[nodiscard]] wire::pb::Hello MakeHello() const;
  // True: it is the first welcome, and has told rank and options. An error: this life is over.
  [[nodiscard]] Result<bool> OnWelcome(const wire::pb::Welcome& welcome);

  struct News {
    std::optional<wire::pb::Member> entered;  // this worker: all have gathered, and it begins. Said once
    std::vector<std::size_t> replaced;        // shards that another process has taken over
  };
  // Nothing if the roster is older than the one before. An error: this life is over.
  [[nodiscard]] Result<std::optional<News>> OnRoster(const wire::pb::Roster& roster);
  // A link to each shard of the roster, in their order, not started: number 1 + n is that of shard n. Each
  // asks the newest roster for its address. An error if the roster lacks a shard. Borrows `env` and `events`
  // for the life of the links, which end before this.
  [[nodiscard]] Result<std::vector<std::unique_ptr<Link>>> LinkShards(Env& env, LinkEvents& events) const;

  [[nodiscard]] const WorkerIdentity& self() const { return self_; }
  [[nodiscard]] const JobOptions& job() const { return job_; }
  [[nodiscard]] const RosterView& roster() const { return roster_; }
  // As in Worker.
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  // The worker reads what blocks have at `epoch` or later; an observer counts no more.
  void ReadFrom(Epoch epoch) { self_.epoch_min = epoch; }
  void BecomeObserver(Epoch epoch) {
    self_.observer = true;
    ReadFrom(epoch);
  }

 private:
  [[nodiscard]] Status CheckShards() const;

  const WorkerOptions options_;
  const std::uint64_t life_;
  WorkerIdentity self_;
  JobOptions job_;
  RosterView roster_;
  bool entered_ = false;
  bool goes_on_ = false;
};

}  // namespace leeway
