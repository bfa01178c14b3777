// SchedulerNode::Parts: the parts that the scheduler node routes events to, and what it reads from several of
// them at once. As a whole they go into the log and come back from it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "node/scheduler/barriers.h"
#include "node/scheduler/checkpoint_folder.h"
#include "node/scheduler/checkpoint_writer.h"
#include "node/scheduler/departures.h"
#include "node/scheduler/job_end.h"
#include "node/scheduler/job_log.h"
#include "node/scheduler/job_peers.h"
#include "node/scheduler/job_rules.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/reports.h"
#include "node/scheduler/restore_point.h"
#include "node/scheduler/scheduler_node.h"
#include "node/scheduler/table_definitions.h"
#include "node/scheduler/wait_graph.h"

namespace leeway {

struct SchedulerNode::Parts {
  // Sizes of parts come from the job, so a job that is out of bounds must not reach them: `checked` says why,
  // and Start repeats it.
  Parts(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
        std::function<void(const Status&)> ended, Status checked, SchedulerNode& node);

  [[nodiscard]] CheckpointWriter::Events WriterEvents(SchedulerNode& node);
  [[nodiscard]] JobLog::Events LogEvents(SchedulerNode& node);

  [[nodiscard]] TableRegistry& tables() { return definitions.tables(); }
  [[nodiscard]] const TableRegistry& tables() const { return definitions.tables(); }
  // The highest iteration that any worker reported.
  [[nodiscard]] Iteration Fastest() const;
  [[nodiscard]] wire::pb::Roster BuildRoster() const;
  [[nodiscard]] HeldPushes::Lacking Lacking() const;
  [[nodiscard]] CutJob AsCut() const;
  [[nodiscard]] Status CheckTraining() const;
  [[nodiscard]] Status CheckCheckpoint() const;
  // Whether the job can go on with another process in the place of a shard. As far as the reports tell:
  // TakeDefineTables knows exactly whether empty blocks had values.
  [[nodiscard]] bool MayReplace() const { return restore_point.MayReplace(Fastest() > members.start()); }
  [[nodiscard]] bool AwaitsFirstCheckpoint() const {
    return restore_point.AwaitsFirst(writer.checkpoints().publishing());
  }
  // All workers are done. Whether the job ends later, because shards have not said what they hold of lives
  // that ended: nobody could count the lost pushes of these afterwards.
  [[nodiscard]] bool EndWaits();
  // The job begins from this checkpoint.
  [[nodiscard]] Status Resume(const Manifest& manifest);

  // The job is over, however that came about: no part begins anything more.
  void Stop();

  [[nodiscard]] wire::pb::LoggedJob StateOfJob() const;
  [[nodiscard]] std::optional<SchedulerLog::Safety> AddChanges(wire::pb::LogRecord& record);
  [[nodiscard]] wire::pb::LogRecord Snapshot() const;
  [[nodiscard]] Status Replay(const DecodedLog& read);

  const SchedulerOptions options;
  Env& env;
  const Status checked;
  TimePoint started;
  TimePoint gathered;          // at once in a job that goes on from its log
  bool took_over = false;      // a job that another scheduler has begun
  bool ready = false;          // where the job stands is known: peers are let in
  bool prepared = false;       // what it begins from, and where checkpoints go on, is known
  wire::pb::LoggedJob logged;  // as at the last AddChanges
  Membership members;
  Reports reports;
  Barriers barriers;
  WaitGraph waits;
  JobPeers peers;
  TableDefinitions definitions;
  JobRules rules;
  Departures departures;
  RestorePoint restore_point;
  CheckpointFolder folder;
  CheckpointWriter writer;
  JobEnd end;
  JobLog log;
};

}  // namespace leeway
