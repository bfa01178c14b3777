// Checkpoints of a job: when they are begun, what becomes of them, and beginning from one.
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/errors.h"
#include "base/mutation.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// As a shell takes it.
std::string AsRuleFlag(const std::string& rule) {
  std::string quoted;
  for (const char c : rule) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("--rule '{}'", quoted);
}

}  // namespace

void SchedulerNode::Core::PrepareCheckpoints() {
  const CheckpointOptions& options = options_.checkpoint;
  const auto begin = [this] {
    // Nobody could be heard before.
    if (!std::exchange(ready_, true)) members_.HearAll(env_.clock.Now());
    prepared_ = true;
    if (!members_.gathered() && members_.Complete()) Gather();
  };
  const auto find_next = [this, folder = options.folder, begin] {
    if (folder.empty()) return begin();
    files_.FindNext(folder, [this, begin](const Result<std::uint64_t>& next) {
      if (over_) return;
      // A job that goes on from its log knows where to go on counting.
      if (!next.ok() && !prepared_) return Finish(next.status().WithContext("the folder of checkpoints"));
      checkpoints_.Start(next.ok() ? *next : 1, members_.start(), env_.clock.Now());
      begin();
    });
  };
  const auto read_resume = [this, find_next] {
    const std::string& resume = options_.checkpoint.resume;
    if (resume.empty() || prepared_) return find_next();
    folder_lock_.CheckNobodyWrites(FolderOf(resume), [this, find_next](const Status& unlocked) {
      if (over_) return;  // stopped meanwhile
      if (!unlocked.ok()) return Finish(unlocked.WithContext("the checkpoint to begin from"));
      ReadResume(find_next);
    });
  };
  if (options.folder.empty()) return read_resume();
  folder_lock_.Take(options.folder, [this, read_resume](const Status& locked) {
    if (over_) return;
    if (!locked.ok()) return Finish(locked);
    read_resume();
  });
}

void SchedulerNode::Core::ReadResume(const std::function<void()>& then) {
  files_.Read(options_.checkpoint.resume, [this, then](const Result<Manifest>& manifest) {
    if (over_) return;  // stopped meanwhile
    if (!manifest.ok()) return Finish(manifest.status().WithContext("the checkpoint to begin from"));
    const Status resumed = Resume(*manifest);
    if (!resumed.ok()) return Finish(resumed.WithContext("the checkpoint to begin from"));
    then();
  });
}

Status SchedulerNode::Core::Resume(const Manifest& manifest) {
  // The gathering makes the first epoch.
  LW_RETURN_IF_ERROR(tables_.Resume(manifest, options_.checkpoint.resume, manifest.iteration, epoch_ + 1));
  if (LW_MUTATED(all_begin_lowest)) {
    members_.Resume(std::ranges::min(manifest.begins), manifest.incarnations, {});
  } else {
    members_.Resume(manifest.iteration, manifest.incarnations, manifest.begins);
  }
  if (!LW_MUTATED(pools_not_saved)) pools_.Resume(manifest.pools);
  lacking_ = {manifest.lost, manifest.torn};
  last_checkpoint_ = {manifest, options_.checkpoint.resume, false};
  members_.Restore(RankRestores(manifest, options_.checkpoint.resume));
  env_.log.Write(LogLevel::kInfo,
                 fmt::format("the job goes on in iteration {} from checkpoint {} at {}",
                             manifest.iteration.value(), manifest.checkpoint, options_.checkpoint.resume));
  if (!manifest.exact && !manifest.begins.empty()) {
    env_.log.Write(
        LogLevel::kWarning,
        fmt::format(
            "checkpoint {} is fuzzy: its blocks are of different moments. Each rank goes on where its own "
            "pushes end, in iterations {} to {}; {} pushes that blocks do not have count as lost",
            manifest.checkpoint, std::ranges::min(manifest.begins).value(),
            std::ranges::max(manifest.begins).value(), manifest.lost));
  }
  TakeUpRules(manifest);
  return Status::Ok();
}

void SchedulerNode::Core::TakeUpRules(const Manifest& manifest) {
  const std::vector<std::string>& own = options_.job.rules;
  const auto mismatch = std::ranges::mismatch(own, manifest.rules);
  if (mismatch.in1 != own.end()) {
    std::vector<std::string> lacking;
    for (const std::string& rule : manifest.rules) {
      if (std::ranges::find(own, rule) == own.end()) lacking.push_back(AsRuleFlag(rule));
    }
    if (lacking.empty()) return;
    return env_.log.Write(
        LogLevel::kWarning,
        fmt::format(
            "the job has rules of its own, so those that were in force at the checkpoint are not taken "
            "up; what it lacks of them: {}",
            fmt::join(lacking, " ")));
  }
  std::vector<std::string> taken;
  for (const std::string& rule : std::span(mismatch.in2, manifest.rules.end())) {
    if (const Status took = tables_.TakeUp(rule); took.ok()) {
      taken.push_back(AsRuleFlag(rule));
    } else {
      env_.log.Write(LogLevel::kWarning,
                     fmt::format("a rule that was in force at the checkpoint is not taken up, since this job "
                                 "cannot have it: {}",
                                 took.message()));
    }
  }
  if (taken.empty()) return;
  env_.log.Write(LogLevel::kInfo, fmt::format("rules that were in force at the checkpoint are taken up: {}",
                                              fmt::join(taken, " ")));
}

void SchedulerNode::Core::ReviewCheckpoints() {
  if (over_ || !members_.gathered() || tables_.all().empty()) return;
  KeepBatchesOfCut();
  const TimePoint now = env_.clock.Now();
  TellShardsIfGiven();  // one that was waited for may be gone
  PublishIfWhole();
  if (checkpoints_.IsOverdue(Fastest(), now)) {
    const double limit_s = Seconds(options_.checkpoint.limit);
    GiveUpCheckpoint(checkpoints_.publishing()
                         ? fmt::format("its manifest is not in {} after {:.1f} s: the disk does not answer",
                                       checkpoints_.cut().folder(), limit_s)
                         : fmt::format("not complete within {:.1f} s: missing {}", limit_s, WhoIsMissing()));
  }
  if (over_) return;  // whoever waited for one that was given up may have ended the job
  if (folder_lock_.taken() && checkpoints_.IsDue(Fastest(), MomentOfCut(), now)) BeginCheckpoint();
}

void SchedulerNode::Core::OnTablesMade() {
  // One under way does not have them: what was written of it is nothing without a manifest.
  if (checkpoints_.under_way()) {
    files_.Discard(checkpoints_.cut().folder());
    checkpoints_.Drop();
  }
  ReviewCheckpoints();
}

void SchedulerNode::Core::BeginCheckpoint() {
  const RankStates::Moment moment = MomentOfCut();
  const wire::pb::Cut& cut = checkpoints_.Begin(Fastest(), moment, env_.clock.Now());
  if (checkpoints_.told()) TellShardsOfCut();
  KeepBatchesOfCut();
  ended_lives_.OnCutBegun();
  settled_at_cut_ = ended_lives_.SettledBelow();
  for (const WorkerSeat& seat : members_.workers())
    settled_at_cut_[{seat.rank, seat.incarnation}] = seat.settled;
  rank_states_.Begin(cut, moment);
  for (const WorkerSeat& seat : members_.workers()) AskForState(seat);
  TellShardsIfGiven();
}

void SchedulerNode::Core::TellShardsOfCut() {
  checkpoints_.Tell();
  for (const ShardSeat& seat : members_.shards()) {
    if (const wire::pb::Cut* cut = checkpoints_.OpenFor(seat.id);
        cut != nullptr && seat.connection != ConnectionId{})
      inbound_.SendControl(seat.connection, wire::Kind::kCut, *cut);
  }
}

void SchedulerNode::Core::TellShardsIfGiven() {
  if (!checkpoints_.under_way() || checkpoints_.told()) return;
  if (rank_states_.Complete(members_.workers())) TellShardsOfCut();
}

void SchedulerNode::Core::KeepBatchesOfCut() {
  Iteration from = kIterationMax;
  // Blocks that are taken at once may lack any push that has no verdict yet.
  if (checkpoints_.under_way())
    from = MomentOfCut() == RankStates::Moment::kNearby ? Iteration(0)
                                                        : Iteration(checkpoints_.cut().iteration());
  pools_.KeepFrom(from);
}

Status SchedulerNode::Core::TakeCutReply(const ShardSeat& seat, std::span<const std::byte> body) {
  wire::pb::CutReply reply;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kCutReply, body, reply));
  switch (checkpoints_.Take(seat.id, reply)) {
    case Checkpoints::Step::kWait:
      break;
    case Checkpoints::Step::kTooLate:
      // Another one at once, further ahead. What some shards have begun to write is nothing without a
      // manifest.
      files_.Discard(JoinPath(options_.checkpoint.folder, CheckpointName(reply.checkpoint())));
      BeginCheckpoint();
      break;
    case Checkpoints::Step::kFailed:
      GiveUpCheckpoint(fmt::format("server {} shard {}: {}", seat.server.value(), seat.shard, reply.error()));
      break;
    case Checkpoints::Step::kWritten:
      PublishIfWhole();
      break;
  }
  return Status::Ok();
}

void SchedulerNode::Core::PublishCheckpoint() {
  const Result<Manifest> manifest = BuildManifest();
  if (!manifest.ok()) return GiveUpCheckpoint(manifest.status().message());
  const std::uint64_t id = manifest->checkpoint;
  const auto wanted = [this, id] {  // not given up meanwhile
    return checkpoints_.under_way() && checkpoints_.cut().checkpoint() == id;
  };
  files_.Publish(options_.checkpoint.folder, *manifest, wanted,
                 [this, wanted, manifest = *manifest, id](const Status& published) {
                   if (!wanted()) return;
                   if (!published.ok()) return GiveUpCheckpoint(published.message());
                   last_checkpoint_ = {manifest, checkpoints_.cut().folder(), true};
                   unread_.clear();
                   ended_lives_.OnCutWhole();
                   checkpoints_.Complete(manifest.iteration, env_.clock.Now());
                   env_.log.Write(LogLevel::kInfo, fmt::format("checkpoint {} of iteration {} is at {}", id,
                                                               checkpoints_.last()->iteration.value(),
                                                               checkpoints_.last()->folder));
                   files_.Prune(options_.checkpoint.folder, options_.checkpoint.keep);
                   ReviewCheckpoints();  // the next is named at once
                   AnswerCheckpointRequests();
                 });
}

void SchedulerNode::Core::GiveUpCheckpoint(const std::string& why) {
  const wire::pb::Cut cut = checkpoints_.cut();
  checkpoints_.GiveUp(why, env_.clock.Now());
  env_.log.Write(LogLevel::kWarning, fmt::format("checkpoint {} was given up: {}", cut.checkpoint(), why));
  files_.Discard(cut.folder());
  requests_.AnswerAll(
      {Unavailable("checkpoint {} was given up: {}", cut.checkpoint(), why), 0, Iteration(-1), {}});
}

Result<Manifest> SchedulerNode::Core::BuildManifest() const {
  Manifest manifest;
  manifest.checkpoint = checkpoints_.cut().checkpoint();
  manifest.job = options_.job;
  manifest.rules = tables_.Rules();
  manifest.iteration = Iteration(checkpoints_.cut().iteration());
  manifest.exact = true;
  manifest.consistent = !rank_states_.AnyLacks();
  manifest.epoch = epoch_;
  for (const WorkerSeat& seat : members_.workers()) manifest.incarnations.push_back(seat.incarnation);
  manifest.ranks = rank_states_.Written();
  // A rank that left the cut's iteration out, or was asked for any, has done more than the blocks hold.
  for (const ManifestRank& rank : manifest.ranks) {
    if (rank.iteration != manifest.iteration) manifest.consistent = false;
  }
  struct Written {
    std::uint32_t file = 0;
    const wire::pb::CutBlock* block = nullptr;
  };
  std::map<std::uint32_t, Written> blocks;
  for (const auto& [shard, reply] : checkpoints_.replies()) {
    if (reply.fuzzy()) manifest.exact = manifest.consistent = false;
    for (const wire::pb::CutBlock& block : reply.blocks()) {
      blocks[block.block()] = {static_cast<std::uint32_t>(manifest.files.size()), &block};
    }
    manifest.files.push_back({reply.file(), reply.bytes(), reply.checksum()});
  }
  for (const TableRegistry::Entry& entry : tables_.all()) {
    ManifestTable& table = manifest.tables.emplace_back();
    table.id = TableId(entry.map.id());
    LW_ASSIGN_OR_RETURN(table.spec, tables_.CanonicalSpec(table.id));
    for (const wire::pb::Block& block : entry.map.blocks()) {
      const auto written = blocks.find(block.block());
      // A table that was made while the shards were writing.
      if (written == blocks.end())
        return Unavailable("block {} of table \"{}\" is not in it", block.block(), table.spec.name);
      const wire::pb::CutBlock& at = *written->second.block;
      const RecordPlace record{BlockId(at.block()),     at.offset(),     at.bytes(),
                               Iteration(at.v_train()), Term(at.term()), at.checksum()};
      table.blocks.push_back({block.offset(), block.elements(), written->second.file, record});
    }
  }
  const std::vector<Iteration> ends = SetBegins(manifest);
  // In a job without iterations a batch that nobody has finished is open.
  const bool iterates = std::ranges::any_of(
      tables_.all(), [](const TableRegistry::Entry& entry) { return entry.spec.clock == TableClock::kJob; });
  manifest.pools = pools_.InCut(iterates ? std::span<const Iteration>(ends) : std::span<const Iteration>());
  return manifest;
}

std::vector<Iteration> SchedulerNode::Core::SetBegins(Manifest& manifest) const {
  const auto [lost, torn] = Lacking();
  manifest.lost = lost;
  manifest.torn = torn;
  if (manifest.exact) {
    manifest.begins.assign(manifest.incarnations.size(), manifest.iteration);
    return manifest.begins;
  }
  // No rank begins below a block: nobody waits there for what it did not do before.
  Iteration at_least(0);
  std::uint64_t blocks = 0;
  for (const ManifestTable& table : manifest.tables) {
    if (table.spec.clock == TableClock::kOwn) continue;
    blocks += table.blocks.size();
    for (const ManifestBlock& block : table.blocks) at_least = std::max(at_least, block.record.v_train);
  }
  HeldPushes held;
  for (const auto& [shard, reply] : checkpoints_.replies()) {
    for (const wire::pb::Held& one : reply.held()) held.Add(one);
  }
  manifest.begins.assign(manifest.incarnations.size(), at_least);
  std::vector<Iteration> ends(manifest.incarnations.size(), Iteration(0));
  std::map<MemberKey, Iteration> given;  // where a rank was when it gave its state
  for (const ManifestRank& rank : manifest.ranks) given[{rank.rank, rank.incarnation}] = rank.iteration;
  for (const MemberKey life : held.Lives()) {
    if (life.worker.index() >= manifest.begins.size()) continue;
    Iteration end = held.Highest(life) + 1;
    // A life may end, and the next one take its seat, while shards write. A shard that wrote before lacks
    // what the life sent afterwards; one that writes later may have forgotten the life, and holds all of it.
    const std::optional<EndedLives::Span> ended = ended_lives_.SpanOf(life);
    if (ended && held.BlocksOf(life) < blocks) end = std::max(end, ended->end);
    ends[life.worker.index()] = std::max(ends[life.worker.index()], end);
    // The state of a rank knows of pushes that no block had yet: the rank does not do them again either.
    if (const auto state = given.find(life); state != given.end()) end = std::max(end, state->second);
    // Nor does it do again what a server had acknowledged before the cut, and took with it when it died.
    if (const auto settled = settled_at_cut_.find(life); settled != settled_at_cut_.end())
      end = std::max(end, settled->second);
    const WorkerSeat& seat = members_.workers()[life.worker.index()];
    Iteration& begins = manifest.begins[life.worker.index()];
    begins = std::max(begins, end);
    Iteration first = end;
    if (seat.incarnation == life.incarnation) {
      first = seat.first;
    } else if (ended) {
      first = ended->first;
    }
    if (!ended_lives_.IsInCut(life)) manifest.lost += held.Of(life, first, end - 1).torn;
  }
  manifest.iteration = std::ranges::max(manifest.begins);
  return ends;
}

}  // namespace leeway
