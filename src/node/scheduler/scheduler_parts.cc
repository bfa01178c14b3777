#include "node/scheduler/scheduler_parts.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/mutation.h"
#include "node/scheduler/job_check.h"

namespace leeway {

SchedulerNode::Parts::Parts(const SchedulerOptions& of, Env& world, const SchedulerPolicies& policies,
                            std::function<void(const Status&)> ended, Status is_checked, SchedulerNode& node)
    : options(of),
      env(world),
      checked(std::move(is_checked)),
      members(checked.ok() ? of.job : JobOptions{}),
      waits(of.link.beat),
      peers(
          env, of, members.shards().size(), [this] { return BuildRoster(); }, node),
      definitions(checked.ok() ? of.job : JobOptions{}, policies, of.link.payload_bytes_max, env.log, peers,
                  [this, &node] {
                    writer.OnTablesMade();
                    node.ReviewCheckpoints();
                  }),
      rules(env, peers, of.expel_after),
      departures(
          env.log, peers, [this] { return restore_point.MayPatch(writer.checkpoints().enabled()); },
          [this] {
            departures.LendWaiting(members);
            writer.PublishIfWhole(AsCut());
            log.CommitSoon();
          }),
      restore_point(env, of.on_server_loss),
      folder(env, of.checkpoint),
      writer(env, of.checkpoint, members.shards().size(), policies.sync, peers, WriterEvents(node)),
      end(
          env, of, [this] { return std::ranges::all_of(members.shards(), &ShardSeat::done); },
          [this, told = std::move(ended)](const Status& outcome) {
            log.Stop();
            peers.CloseAll(outcome);
            told(outcome);
          }),
      log(env, peers, LogEvents(node)) {}

CheckpointWriter::Events SchedulerNode::Parts::WriterEvents(SchedulerNode& node) {
  return {.begun =
              [this] {
                departures.pools().KeepFrom(writer.KeepBatchesFrom(tables()));
                departures.ended().OnCutBegun();
              },
          .whole =
              [this](const Manifest& manifest, const std::string& at) {
                restore_point.OnWhole(manifest, at);
                departures.ended().OnCutWhole();
              },
          .next = [&node] { node.ReviewCheckpoints(); }};
}

JobLog::Events SchedulerNode::Parts::LogEvents(SchedulerNode& node) {
  return {.add_changes = [this](wire::pb::LogRecord& record) { return AddChanges(record); },
          .snapshot = [this] { return Snapshot(); },
          .all_written = [this] { end.OnWritten(peers.all().empty()); },
          .lost = [&node](const Status& why) { node.OnLogLost(why); }};
}

Iteration SchedulerNode::Parts::Fastest() const {
  // No cut is named below an iteration whose batches are known to be done, and forgotten.
  return std::max(reports.Fastest(), departures.pools().seen());
}

wire::pb::Roster SchedulerNode::Parts::BuildRoster() const {
  wire::pb::Roster roster = members.BuildRoster();
  departures.ended().AddTo(roster);
  return roster;
}

HeldPushes::Lacking SchedulerNode::Parts::Lacking() const {
  HeldPushes::Lacking lacking = departures.lacking();
  lacking.lost += reports.Lost();
  return lacking;
}

CutJob SchedulerNode::Parts::AsCut() const {
  return {options.job,        peers.epoch(),        Fastest(), members, tables(), departures.pools(),
          departures.ended(), departures.lacking(), reports};
}

Status SchedulerNode::Parts::CheckTraining() const {
  return leeway::CheckTraining(options.job.job, end.over(), members, tables());
}

Status SchedulerNode::Parts::CheckCheckpoint() const {
  return leeway::CheckCheckpoint(options.job.job, writer.checkpoints().enabled(), end.over(), members,
                                 tables());
}

Status SchedulerNode::Parts::Resume(const Manifest& manifest) {
  const std::string& path = options.checkpoint.resume;
  // The gathering makes the first epoch.
  LW_RETURN_IF_ERROR(tables().Resume(manifest, path, manifest.iteration, peers.epoch() + 1));
  if (LW_MUTATED(all_begin_lowest)) {
    members.Resume(std::ranges::min(manifest.begins), manifest.incarnations, {});
  } else {
    members.Resume(manifest.iteration, manifest.incarnations, manifest.begins);
  }
  if (!LW_MUTATED(pools_not_saved)) departures.pools().Resume(manifest.pools);
  departures.BeginFrom({manifest.lost, manifest.torn});
  restore_point.BeginFrom(manifest, path);
  members.Restore(RankRestores(manifest, path));
  rules.TakeUp(options.job.rules, manifest.rules, tables());
  return Status::Ok();
}

bool SchedulerNode::Parts::EndWaits() {
  if (!members.AnyLeft() || departures.ended().Pending().empty()) return false;
  // One that is gone never answers, and nobody needs another in its place.
  const bool gone =
      std::ranges::any_of(members.shards(), [](const ShardSeat& seat) { return seat.done || seat.awaited; });
  if (!gone && end.MayWait()) return true;
  env.log.Write(
      LogLevel::kWarning,
      "the job ends before all servers have said what they hold of workers that are gone: more pushes "
      "may be lost than were counted");
  return false;
}

void SchedulerNode::Parts::Stop() {
  peers.StopNotices();
  folder.Stop();
  restore_point.Stop();
  definitions.Stop();
  departures.Stop();
  writer.Stop();
}

wire::pb::LoggedJob SchedulerNode::Parts::StateOfJob() const {
  wire::pb::LoggedJob state;
  state.set_epoch(peers.epoch().value());
  state.set_prepared(prepared);
  end.AddTo(state);
  departures.AddTo(state);
  restore_point.AddTo(state);
  return state;
}

std::optional<SchedulerLog::Safety> SchedulerNode::Parts::AddChanges(wire::pb::LogRecord& record) {
  bool changed = members.AddChanges(record);
  changed |= tables().AddChanges(record);
  changed |= barriers.AddChanges(record);
  changed |= rules.answers().AddChanges(record);
  changed |= writer.checkpoints().AddChanges(record);
  const bool leases = departures.pools().AddChanges(record);
  wire::pb::LoggedJob state = StateOfJob();
  if (state.SerializeAsString() != logged.SerializeAsString()) {
    changed = true;
    logged = state;
    state.set_fastest(Fastest().value());
    *record.mutable_state() = std::move(state);
  }
  if (changed) return SchedulerLog::Safety::kPower;
  return leases ? std::optional(SchedulerLog::Safety::kProcess) : std::nullopt;
}

wire::pb::LogRecord SchedulerNode::Parts::Snapshot() const {
  wire::pb::LogRecord record;
  record.set_whole(true);
  FillJob(options.job, *record.mutable_job());
  *record.mutable_state() = StateOfJob();
  record.mutable_state()->set_fastest(Fastest().value());
  members.AddAll(record);
  tables().AddAll(record);
  barriers.AddAll(record);
  departures.pools().AddAll(record);
  writer.checkpoints().AddAll(record);
  rules.answers().AddAll(record);
  return record;
}

Status SchedulerNode::Parts::Replay(const DecodedLog& read) {
  LW_RETURN_IF_ERROR(CheckSameJob(read, options.job));
  took_over = true;
  for (const wire::pb::LogRecord& record : read.records) {
    LW_RETURN_IF_ERROR(members.Apply(record, env.clock.Now()));
    LW_RETURN_IF_ERROR(tables().Apply(record));
    LW_RETURN_IF_ERROR(barriers.Apply(record));
    LW_RETURN_IF_ERROR(departures.pools().Apply(record));
    writer.checkpoints().Apply(record);
    rules.answers().Apply(record);
    if (!record.has_state()) continue;
    peers.RestoreEpoch(Epoch(record.state().epoch()));
    prepared = record.state().prepared();
    reports.fastest_before = Iteration(record.state().fastest());
    restore_point.Apply(record.state());
    departures.Apply(record.state());
    end.Apply(record.state());
  }
  if (tables().switched()) rules.Restore(peers.epoch());
  if (end.over()) {
    Stop();
    env.log.Write(
        LogLevel::kInfo,
        fmt::format("the log {} says that this job is over: {} (another one needs a folder of its own)",
                    log.path(), end.outcome().ToString()));
    return Status::Ok();
  }
  env.log.Write(LogLevel::kInfo, fmt::format("the job goes on from the log {}, with epoch {} and {} tables",
                                             log.path(), peers.epoch().value(), tables().all().size()));
  if (prepared && !options.checkpoint.resume.empty()) {
    env.log.Write(LogLevel::kInfo, fmt::format("it does not begin again from the checkpoint at {}",
                                               options.checkpoint.resume));
  }
  return Status::Ok();
}

}  // namespace leeway
