#include "node/scheduler/checkpoint_writer.h"

#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "base/errors.h"
#include "node/seconds.h"

namespace leeway {

CheckpointWriter::CheckpointWriter(Env& env, const CheckpointOptions& options, std::size_t shards,
                                   const Registry<SyncModel>& models, SchedulerActions& actions,
                                   Events events)
    : env_(env),
      options_(options),
      actions_(actions),
      events_(std::move(events)),
      checkpoints_(options, shards),
      moments_(models),
      files_(env.storage, env.log) {}

void CheckpointWriter::Request(CheckpointRequests::Done done) {
  requests_.Add(std::move(done));
  checkpoints_.Ask();
}

void CheckpointWriter::Request(ConnectionId monitor, CheckpointRequests::Done done) {
  if (done) requests_.Add(monitor, std::move(done));
  checkpoints_.Ask();
}

void CheckpointWriter::Stop() {
  stopped_ = true;
  requests_.AnswerAll(
      {FailedPrecondition("the job ended before the checkpoint was whole"), 0, Iteration(-1), {}});
}

void CheckpointWriter::Review(const CutJob& job, bool may_begin) {
  const TimePoint now = env_.clock.Now();
  TellShardsIfGiven(job.members);  // one that was waited for may be gone
  PublishIfWhole(job);
  if (checkpoints_.IsOverdue(job.fastest, now)) {
    const double limit_s = Seconds(options_.limit);
    GiveUp(checkpoints_.publishing()
               ? fmt::format("its manifest is not in {} after {:.1f} s: the disk does not answer",
                             checkpoints_.cut().folder(), limit_s)
               : fmt::format("not complete within {:.1f} s: missing {}", limit_s, WhoIsMissing(job)));
  }
  if (stopped_) return;  // whoever waited for one that was given up may have ended the job
  if (may_begin && checkpoints_.IsDue(job.fastest, moments_.Of(job.tables.all()), now)) Begin(job);
}

void CheckpointWriter::OnTablesMade() {
  if (checkpoints_.under_way()) DiscardCut();
}

void CheckpointWriter::OnReplaced(const ShardSeat& seat, Iteration fastest) {
  if (!checkpoints_.under_way()) return;
  // Nothing of it is lost: another is named at once, for the process that comes too.
  if (checkpoints_.IsAhead(fastest)) return DiscardCut();
  GiveUp(fmt::format("server {} shard {} was replaced", seat.server.value(), seat.shard));
}

void CheckpointWriter::DiscardCut() {
  // Files without a manifest are no checkpoint.
  files_.Discard(checkpoints_.cut().folder());
  checkpoints_.Drop();
}

void CheckpointWriter::Begin(const CutJob& job) {
  const RankStates::Moment moment = moments_.Of(job.tables.all());
  const wire::pb::Cut& cut = checkpoints_.Begin(job.fastest, moment, env_.clock.Now());
  if (checkpoints_.told()) TellShards(job.members);
  events_.begun();
  settled_at_cut_ = job.ended.SettledBelow();
  for (const WorkerSeat& seat : job.members.workers())
    settled_at_cut_[{seat.rank, seat.incarnation}] = seat.settled;
  rank_states_.Begin(cut, moment);
  for (const WorkerSeat& seat : job.members.workers()) AskForState(seat);
  TellShardsIfGiven(job.members);
}

void CheckpointWriter::TellShards(const Membership& members) {
  checkpoints_.Tell();
  for (const ShardSeat& seat : members.shards()) {
    if (const wire::pb::Cut* cut = checkpoints_.OpenFor(seat.id);
        cut != nullptr && seat.connection != ConnectionId{})
      actions_.Send(seat.connection, wire::Kind::kCut, *cut);
  }
}

void CheckpointWriter::TellShardsIfGiven(const Membership& members) {
  if (!checkpoints_.under_way() || checkpoints_.told()) return;
  if (rank_states_.Complete(members.workers())) TellShards(members);
}

Iteration CheckpointWriter::KeepBatchesFrom(const TableRegistry& tables) {
  if (!checkpoints_.under_way()) return kIterationMax;
  // Blocks that are taken at once may lack any push that has no verdict yet.
  return moments_.Of(tables.all()) == RankStates::Moment::kNearby ? Iteration(0)
                                                                  : Iteration(checkpoints_.cut().iteration());
}

void CheckpointWriter::TakeCutReply(const CutJob& job, const ShardSeat& seat,
                                    const wire::pb::CutReply& reply) {
  switch (checkpoints_.Take(seat.id, reply)) {
    case Checkpoints::Step::kWait:
      break;
    case Checkpoints::Step::kTooLate:
      // Another one at once, further ahead. Files that some shards have begun are nothing without a manifest.
      files_.Discard(JoinPath(options_.folder, CheckpointName(reply.checkpoint())));
      Begin(job);
      break;
    case Checkpoints::Step::kFailed:
      GiveUp(fmt::format("server {} shard {}: {}", seat.server.value(), seat.shard, reply.error()));
      break;
    case Checkpoints::Step::kWritten:
      PublishIfWhole(job);
      break;
  }
}

void CheckpointWriter::AskForState(const WorkerSeat& seat) {
  if (!checkpoints_.under_way() || seat.connection == ConnectionId{}) return;
  const std::optional<wire::pb::Cut> cut = rank_states_.OpenFor(seat);
  if (cut) actions_.Send(seat.connection, wire::Kind::kCut, *cut);
}

void CheckpointWriter::TakeRankState(const CutJob& job, const WorkerSeat& seat,
                                     const wire::pb::RankState& state) {
  if (!checkpoints_.under_way() || checkpoints_.cut().checkpoint() != state.checkpoint()) return;
  // A worker that is not waited for holds nobody up, even if it fails.
  const bool awaited = rank_states_.OpenFor(seat).has_value();
  switch (rank_states_.Take(seat, state)) {
    case RankStates::Step::kTaken:
      TellShardsIfGiven(job.members);
      PublishIfWhole(job);
      break;
    case RankStates::Step::kTooLate:
      if (!awaited) break;
      files_.Discard(checkpoints_.cut().folder());
      checkpoints_.TooLate(Iteration(state.late()));
      Begin(job);
      break;
    case RankStates::Step::kFailed:
      if (awaited) GiveUp(fmt::format("worker {}: {}", seat.rank.value(), state.error()));
      break;
  }
}

void CheckpointWriter::PublishIfWhole(const CutJob& job) {
  if (!checkpoints_.written() || checkpoints_.publishing()) return;
  if (!rank_states_.Complete(job.members.workers())) return;
  // Which batches of a dead worker are in it is not known yet.
  if (!job.ended.Pending().empty()) return;
  checkpoints_.Publish(env_.clock.Now());
  Publish(job);
}

void CheckpointWriter::Publish(const CutJob& job) {
  const Result<Manifest> manifest =
      BuildManifest(job, {checkpoints_.cut(), checkpoints_.replies(), rank_states_, settled_at_cut_});
  if (!manifest.ok()) return GiveUp(manifest.status().message());
  const auto wanted = [this, id = manifest->checkpoint] {  // not given up meanwhile
    return checkpoints_.under_way() && checkpoints_.cut().checkpoint() == id;
  };
  files_.Publish(options_.folder, *manifest, wanted,
                 [this, wanted, manifest = *manifest](const Status& published) {
                   if (!wanted()) return;
                   if (!published.ok()) return GiveUp(published.message());
                   Complete(manifest);
                 });
}

void CheckpointWriter::Complete(const Manifest& manifest) {
  events_.whole(manifest, checkpoints_.cut().folder());
  checkpoints_.Complete(manifest.iteration, env_.clock.Now());
  const Checkpoints::Last last = *checkpoints_.last();
  env_.log.Write(LogLevel::kInfo, fmt::format("checkpoint {} of iteration {} is at {}", manifest.checkpoint,
                                              last.iteration.value(), last.folder));
  files_.Prune(options_.folder, options_.keep);
  events_.next();
  requests_.AnswerAll({Status::Ok(), last.checkpoint, last.iteration, last.folder});
}

void CheckpointWriter::GiveUp(const std::string& why) {
  const wire::pb::Cut cut = checkpoints_.cut();
  checkpoints_.GiveUp(why, env_.clock.Now());
  env_.log.Write(LogLevel::kWarning, fmt::format("checkpoint {} was given up: {}", cut.checkpoint(), why));
  files_.Discard(cut.folder());
  requests_.AnswerAll(
      {Unavailable("checkpoint {} was given up: {}", cut.checkpoint(), why), 0, Iteration(-1), {}});
}

std::string CheckpointWriter::WhoIsMissing(const CutJob& job) const {
  std::vector<std::string> missing;
  for (const ShardSeat& seat : job.members.shards()) {
    if (!checkpoints_.replies().contains(seat.id))
      missing.push_back(fmt::format("server {} shard {}", seat.server.value(), seat.shard));
  }
  for (const WorkerId rank : rank_states_.Missing(job.members.workers()))
    missing.push_back(fmt::format("the state of worker {}", rank.value()));
  for (const MemberKey life : job.ended.Pending())
    missing.push_back(fmt::format("what servers hold of worker {}, which is gone", life.worker.value()));
  return fmt::format("{}", fmt::join(missing, ", "));
}

}  // namespace leeway
