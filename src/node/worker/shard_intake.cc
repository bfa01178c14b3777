#include "node/worker/shard_intake.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/errors.h"

namespace leeway {

ShardIntake::ShardIntake(Env& env, const LinkOptions& options, const WorkerIdentity& self,
                         WorkerCounters& counters, DueCallbacks& due, Events events)
    : self_(self),
      timers_(env.timers),
      due_(due),
      events_(std::move(events)),
      moves_(env, options, counters, events_.ask),
      reads_(self, counters, due) {}

Result<Landing> ShardIntake::OnFrameStart(Training& training, const ShardPort& port, const FrameHead& head,
                                          std::span<const std::byte> body) {
  Result<Landing> landing =
      static_cast<wire::Kind>(head.kind) == wire::Kind::kArrays
          ? reads_.Land(training.tables(), body, head.payload_bytes)
          : landings_.Begin(self_, port.shard(), training.tables(), body, head.payload_bytes);
  if (!landing.ok() && broken_timer_ == TimerId{}) {
    // The transport closes the connection now. A server that breaks the protocol would do so again on the
    // next one, so this is the end of the worker; it is told from outside the transport's own call.
    broken_timer_ =
        timers_.After(Duration::zero(), [this, why = landing.status().WithContext(port.link().peer())] {
          events_.failed(why);
          due_.Run();
        });
  }
  return landing;
}

Status ShardIntake::OnAnswers(Training& training, ShardPort& port, std::span<const std::byte> body,
                              const Landing& landing) {
  std::shared_ptr<AnswerLanding> unchanged;
  if (landing.lease == nullptr) {
    LW_ASSIGN_OR_RETURN(unchanged, landings_.Unchanged(body));
  }
  auto& landed = unchanged != nullptr ? *unchanged : *static_cast<AnswerLanding*>(landing.lease.get());
  const Status taken = training.OnAnswers(port, landed);
  landed.slots.clear();  // values that landed aside go back to their pool
  return taken;
}

Status ShardIntake::OnArrays(Training& training, const ShardPort& port, std::span<const std::byte> body,
                             const Landing& landing) {
  if (landing.lease != nullptr) {
    return reads_.OnArrays(port.shard(), training.tables(),
                           static_cast<ArraysLanding*>(landing.lease.get())->arrays);
  }
  wire::Arrays arrays;
  LW_RETURN_IF_ERROR(wire::Decode(body, 0, arrays));
  return reads_.OnArrays(port.shard(), training.tables(), arrays);
}

Status ShardIntake::OnVerdicts(Training& training, ShardPort& port, std::span<const std::byte> body,
                               std::uint64_t payload_bytes) {
  LW_RETURN_IF_ERROR(wire::Decode(body, payload_bytes, verdicts_));
  LW_RETURN_IF_ERROR(self_.CheckAddressee(verdicts_.worker, verdicts_.incarnation));
  for (const wire::VerdictEntry& entry : verdicts_.entries) {
    LW_RETURN_IF_ERROR(OnVerdict(training, port, entry));
    if (training.ended()) break;
  }
  return Status::Ok();
}

Status ShardIntake::OnResumed(Training& training, ShardPort& port, std::span<const std::byte> body,
                              std::uint64_t payload_bytes) {
  wire::Resumed resumed;
  LW_RETURN_IF_ERROR(wire::Decode(body, payload_bytes, resumed));
  LW_RETURN_IF_ERROR(self_.CheckAddressee(resumed.worker, resumed.incarnation));
  for (const wire::ResumedEntry& entry : resumed.entries) {
    WorkerBlock* block = training.tables().FindBlock(entry.block);
    if (block == nullptr)
      return Protocol("a word on block {}, which no table of this worker has", entry.block.value());
    // Of an owner or a term before the last move, or said twice.
    if (block->shard != port.shard() || block->term != entry.term || !block->resuming) continue;
    block->told = std::max(block->told, entry.v_train);
    // The scheduler counts for a worker that has left.
    moves_.OnResumed(*block, entry.last, port, !self_.observer);
  }
  moves_.TellLost(port);
  reads_.Send(training.ports());
  return Status::Ok();
}

Status ShardIntake::OnVerdict(Training& training, ShardPort& port, const wire::VerdictEntry& entry) {
  WorkerBlock* block = training.tables().FindBlock(entry.block);
  if (block == nullptr)
    return Protocol("a verdict for block {}, which no table of this worker has", entry.block.value());
  if (block->shard != port.shard()) return Status::Ok();  // of an owner before the last move
  const bool init_refused = entry.verdict == wire::Verdict::kRefused && entry.seq == Seq(0);
  // An owner's word under another term concerns no push in flight now; only that the term is another.
  if (!init_refused && entry.term != block->term && entry.verdict != wire::Verdict::kMoved &&
      entry.verdict != wire::Verdict::kFenced) {
    return Status::Ok();
  }
  if (!init_refused && entry.term == block->term) block->told = std::max(block->told, entry.v_train);
  if (!init_refused && wire::ConsumesSeq(entry.verdict)) {
    Result<std::optional<QueuedPush>> settled = training.ports().Settle(port, *block, entry.seq);
    if (!settled.ok()) return settled.status().WithContext(fmt::format("block {}", entry.block.value()));
    if (!settled->has_value()) return Status::Ok();
    moves_.OnFound();
    training.loans().OnVerdict(*block, **std::move(settled), entry.verdict, entry.v_train);
    return Status::Ok();
  }
  switch (entry.verdict) {
    case wire::Verdict::kRefused:
    case wire::Verdict::kInitialized:
      training.OnInitialized(*block, init_refused);
      events_.initialized();
      break;
    case wire::Verdict::kGap:
      port.ChangeQueue(*block, [&](PushQueue& queue) { queue.OnGap(entry.seq); });
      break;
    case wire::Verdict::kWindow:
      port.ChangeQueue(*block, [&](PushQueue& queue) { queue.OnWindow(entry.seq); });
      break;
    case wire::Verdict::kOpen:
      port.ChangeQueue(*block, [&](PushQueue& queue) { queue.OnOpen(); });
      break;
    case wire::Verdict::kMoved:
      OnMoved(*block, training.ports());
      break;
    case wire::Verdict::kFenced:
      events_.failed(Fenced("{} fenced worker {} incarnation {}: this life was declared dead or replaced",
                            port.link().peer(), self_.worker.value(), self_.incarnation.value()));
      break;
    default:
      break;
  }
  return Status::Ok();
}

void ShardIntake::OnMoved(WorkerBlock& block, const ShardPorts& ports) {
  reads_.Unsend(block);
  moves_.OnMoved(block, ports);
}

void ShardIntake::OnUp(Training& training, std::size_t shard) {
  training.ports().OnUp(shard);
  reads_.Unsend(training.ports().At(shard).shard());
  reads_.Send(training.ports());
}

void ShardIntake::OnReplaced(Training& training, std::size_t shard) {
  // Every block, also one that has nothing to send now: the others wait there until this worker has said
  // where it goes on.
  training.tables().ForEachBlock([&](WorkerBlock& block) {
    if (block.shard.index() == shard) OnMoved(block, training.ports());
  });
  training.ports().At(shard).link().Readdress();
}

void ShardIntake::AskForPlaces(Training& training, SchedulerRequests& requests) {
  BlockMoves::Asked asked = moves_.Question(training.tables());
  requests.Define(asked.specs, asked.seen,
                  [this, &training, tables = std::move(asked.tables)](const Status& answer,
                                                                      const wire::pb::TableMap& map) {
                    if (training.ended()) return;
                    const Status taken = answer.ok() ? TakePlaces(training, tables, map) : answer;
                    if (!taken.ok()) events_.failed(taken);
                  });
}

Status ShardIntake::TakePlaces(Training& training, const std::vector<WorkerTable*>& tables,
                               const wire::pb::TableMap& map) {
  moves_.Answered();
  if (static_cast<std::size_t>(map.tables_size()) != tables.size())
    return Protocol("a map of {} tables, wanted {}", map.tables_size(), tables.size());
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const wire::pb::Table& entry = map.tables(static_cast<int>(i));
    LW_RETURN_IF_ERROR(BlockMoves::Replace(*tables[i], entry, training.ports()));
    LW_RETURN_IF_ERROR(training.TakeModels(*tables[i], entry));
  }
  training.CountRules();
  moves_.AskForRest(training.tables());
  training.ports().Flush();
  reads_.Send(training.ports());
  return Status::Ok();
}

}  // namespace leeway
