// JobRules: synchronization rules that are set while the job runs, and those that a checkpoint had.
//
// A rule is checked before anything changes. Its sender hears when every shard has it, or, after a while,
// which shards have not. The answers are kept and logged. So a life that asks again after a lost connection
// hears the outcome of its rule, and does not undo a rule that was set since. Thread rule: that of the
// scheduler node. Lives as long as its actions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/transport.h"
#include "node/scheduler/scheduler_actions.h"
#include "node/scheduler/set_sync_answers.h"
#include "node/scheduler/table_registry.h"
#include "wire/control.pb.h"

namespace leeway {

class JobRules {
 public:
  // Borrows env and actions. After `patience` the sender of a rule hears which shards lack it.
  JobRules(Env& env, SchedulerActions& actions, Duration patience)
      : env_(env), actions_(actions), patience_(patience) {}

  // The life behind connection `id` sets a rule. `training`: why the job cannot have another rule now, if so.
  void Set(ConnectionId id, std::uint64_t life, const wire::pb::SetSync& request, const Status& training,
           TableRegistry& tables);
  // The connection is gone: nobody is left to tell.
  void Forget(ConnectionId whose);
  // The job begins from a checkpoint that had `rules`. The tables take them up if the job's `own` rules are
  // the first of them, or there are no own ones: so a rule outlives the run in which it was set. A job with
  // other rules has these alone, and the log says what it lacks.
  void TakeUp(std::span<const std::string> own, std::span<const std::string> rules, TableRegistry& tables);
  // A worker is back: sends what it may have missed.
  void Tell(ConnectionId worker, const TableRegistry& tables);
  // Names, once, the rules that the job began with and that mean no table: those are slips. To be called when
  // training is under way.
  void NameUnused(const TableRegistry& tables);
  // Answers those that have waited long enough; `unacked` names the shards that lack an epoch.
  void Review(const std::function<std::vector<std::string>(Epoch)>& unacked);

  // The answers, for the log.
  [[nodiscard]] SetSyncAnswers& answers() { return answers_; }
  [[nodiscard]] const SetSyncAnswers& answers() const { return answers_; }
  // After the log was read: whether the shards have the rules is to be heard anew.
  void Restore(Epoch epoch) { changed_at_ = epoch; }

 private:
  struct Waiting {
    ConnectionId whose;
    Epoch epoch;      // of the change
    TimePoint until;  // then the sender hears which shards are missing
    std::function<void(const Status&)> reply;
  };
  // Applies a rule that was not set before, and announces the tables that it changes.
  [[nodiscard]] SetSyncAnswers::Answer Change(const std::string& rule, TableRegistry& tables);
  // These tables have other synchronization, as a new epoch.
  void Announce(std::span<const TableId> changed, const TableRegistry& tables);

  Env& env_;
  SchedulerActions& actions_;
  const Duration patience_;
  SetSyncAnswers answers_;
  std::map<std::uint64_t, Waiting> waiting_;  // by number
  std::uint64_t last_ = 0;
  Epoch changed_at_;  // of the last change of synchronization while this process runs
  bool unused_named_ = false;
};

}  // namespace leeway
