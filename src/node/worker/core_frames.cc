// What the scheduler and the shards send.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

template <typename Message, typename Take>
Status Parsed(wire::Kind kind, std::span<const std::byte> body, Take take) {
  google::protobuf::Arena arena;  // of a large job there are many members
  auto& message = *google::protobuf::Arena::CreateMessage<Message>(&arena);
  LW_RETURN_IF_ERROR(ParseControl(kind, body, message));
  take(message);
  return Status::Ok();
}

}  // namespace

Result<Landing> WorkerNode::Core::OnFrameStart(std::uint32_t link, const FrameHead& head,
                                               std::span<const std::byte> body) {
  const auto kind = static_cast<wire::Kind>(head.kind);
  if (link == 0 || (kind != wire::Kind::kAnswers && kind != wire::Kind::kArrays)) {
    return Protocol("a {} frame with a payload, wanted none but Answers and Arrays", wire::KindName(kind));
  }
  const ShardPort& port = ports_.At(link - 1);
  Result<Landing> landing =
      kind == wire::Kind::kAnswers ? LandAnswers(port, head, body) : LandArrays(head, body);
  if (!landing.ok() && broken_timer_ == TimerId{}) {
    // The transport closes the connection now. A server that breaks the protocol would do so again on the
    // next one, so this is the end of the worker; it is told from outside the transport's own call.
    broken_timer_ =
        env_.timers.After(Duration::zero(), [this, why = landing.status().WithContext(port.link().peer())] {
          Fail(why);
          due_.Run();
        });
  }
  return landing;
}

Status WorkerNode::Core::CheckAddressee(WorkerId worker, Incarnation incarnation) const {
  if (worker == stance_.worker && incarnation == stance_.incarnation) return Status::Ok();
  return Protocol("a frame for worker {} incarnation {}, wanted worker {} incarnation {}", worker.value(),
                  incarnation.value(), stance_.worker.value(), stance_.incarnation.value());
}

std::shared_ptr<WorkerNode::Core::AnswerLanding> WorkerNode::Core::TakeLanding() {
  for (const std::shared_ptr<AnswerLanding>& landing : landings_) {
    if (landing.use_count() > 1) continue;
    landing->slots.clear();
    return landing;
  }
  return landings_.emplace_back(std::make_shared<AnswerLanding>());  // one per connection, at the most
}

Result<Landing> WorkerNode::Core::LandAnswers(const ShardPort& port, const FrameHead& head,
                                              std::span<const std::byte> body) {
  std::shared_ptr<AnswerLanding> lease = TakeLanding();
  LW_RETURN_IF_ERROR(wire::Decode(body, head.payload_bytes, lease->answers));
  LW_RETURN_IF_ERROR(CheckAddressee(lease->answers.worker, lease->answers.incarnation));
  Landing landing;
  landing.places.reserve(lease->answers.entries.size());
  for (const wire::AnswerEntry& entry : lease->answers.entries) {
    LW_ASSIGN_OR_RETURN(Slot slot, ChooseSlot(port, entry, landing));
    lease->slots.push_back(std::move(slot));
  }
  landing.lease = std::move(lease);
  return landing;
}

bool WorkerNode::Core::IsWanted(const ShardPort& port, const WorkerBlock& block,
                                const wire::AnswerEntry& entry) const {
  if (block.term != entry.term || block.shard != port.shard() || !block.pull.open()) return false;
  if (block.table->IsOwnClock()) return entry.progress == block.pull.progress();
  return entry.progress <= block.pull.progress() && entry.progress > block.passed &&
         entry.progress > block.table->landing.arrived(block.index);
}

Result<WorkerNode::Core::Slot> WorkerNode::Core::ChooseSlot(const ShardPort& port,
                                                            const wire::AnswerEntry& entry,
                                                            Landing& landing) {
  if (entry.payload_bytes == 0) return Slot();
  WorkerBlock* block = tables_.FindBlock(entry.block);
  if (block == nullptr)
    return Protocol("an answer for block {}, which no table of this worker has", entry.block.value());
  if (entry.payload_bytes != block->bytes() || entry.codec != 0) {
    return Protocol("table \"{}\" block {}: an answer of {} bytes in codec {}, wanted {} bytes in codec 0",
                    block->table->spec.name, entry.block.value(), entry.payload_bytes, entry.codec,
                    block->bytes());
  }
  Slot slot;
  std::span<std::byte> place;
  if (!IsWanted(port, *block, entry)) {
    // Answered before, or asked anew since: its bytes must go somewhere.
    slot.staged = tables_.pool().Take(block->elements);
    place = slot.staged->bytes();
  } else if (block->table->IsOwnClock()) {
    slot.use = Slot::Use::kInto;
    place = std::as_writable_bytes(block->table->into.front().values.subspan(block->offset, block->elements));
  } else {
    slot.use = Slot::Use::kPair;
    PairLanding::Place chosen = block->table->landing.Begin(block->index);
    slot.staged = std::move(chosen.staged);
    place = std::as_writable_bytes(chosen.values);
  }
  // Of a frame that has tables of both clocks the smaller.
  const std::uint64_t bytes = tables_.BytesLikeThis(*block->table);
  landing.of_bytes = landing.places.empty() ? bytes : std::min(landing.of_bytes, bytes);
  landing.places.push_back(place);
  return slot;
}

void WorkerNode::Core::OnFrame(std::uint32_t link, const FrameHead& head, std::span<const std::byte> body,
                               Landing&& landing) {
  const auto kind = static_cast<wire::Kind>(head.kind);
  Status status;
  if (link == 0) {
    status = OnSchedulerFrame(kind, body);
  } else {
    ShardPort& port = ports_.At(link - 1);
    counters_.bytes_received += head.body_bytes + head.payload_bytes;
    if (kind == wire::Kind::kVerdicts) {
      status = OnVerdicts(port, body, head.payload_bytes);
    } else if (kind == wire::Kind::kAnswers && landing.lease != nullptr) {
      auto& landed = *static_cast<AnswerLanding*>(landing.lease.get());
      status = OnAnswers(port, landed);
      landed.slots.clear();  // what landed aside goes back to its pool
    } else if (kind == wire::Kind::kAnswers) {
      const std::shared_ptr<AnswerLanding> unchanged = TakeLanding();
      status = wire::Decode(body, 0, unchanged->answers);
      unchanged->slots.resize(unchanged->answers.entries.size());
      if (status.ok()) status = OnAnswers(port, *unchanged);
    } else if (kind == wire::Kind::kArrays && landing.lease != nullptr) {
      status = OnArrays(port, static_cast<ArraysLanding*>(landing.lease.get())->arrays);
    } else if (kind == wire::Kind::kArrays) {
      wire::Arrays arrays;
      status = wire::Decode(body, 0, arrays);
      if (status.ok()) status = OnArrays(port, arrays);
    } else if (kind == wire::Kind::kWhyReply) {
      status =
          Parsed<wire::pb::WhyReply>(kind, body, [this](const auto& message) { OnWhyReply(message, false); });
    } else {
      status = Protocol("a {} frame, wanted Verdicts, Answers, Arrays or WhyReply", wire::KindName(kind));
    }
    if (status.ok() && phase_ != Phase::kFailed) port.Flush();
    if (!status.ok()) status = status.WithContext(port.link().peer());
  }
  if (!status.ok()) Fail(status);
  due_.Run();
}

Status WorkerNode::Core::OnSchedulerFrame(wire::Kind kind, std::span<const std::byte> body) {
  switch (kind) {
    case wire::Kind::kRoster:
      return Parsed<wire::pb::Roster>(kind, body, [this](const auto& message) { OnRoster(message); });
    case wire::Kind::kTableMap:
      return Parsed<wire::pb::TableMap>(kind, body, [this](const auto& message) {
        if (message.request() == 0) return OnSwitch(message);
        requests_.OnTableMap(message);
      });
    case wire::Kind::kBarrierDone:
      return Parsed<wire::pb::BarrierDone>(kind, body,
                                           [this](const auto& message) { requests_.OnBarrierDone(message); });
    case wire::Kind::kBatchLease:
      return Parsed<wire::pb::BatchLease>(kind, body,
                                          [this](const auto& message) { requests_.OnBatchLease(message); });
    case wire::Kind::kSetSyncReply:
      return Parsed<wire::pb::SetSyncReply>(
          kind, body, [this](const auto& message) { requests_.OnSetSyncReply(message); });
    case wire::Kind::kCut:
      return Parsed<wire::pb::Cut>(kind, body, [this](const auto& message) { OnCut(message); });
    case wire::Kind::kWhy:
      return Parsed<wire::pb::Why>(kind, body, [this](const auto& message) { OnAsked(message); });
    case wire::Kind::kWhyReply:
      return Parsed<wire::pb::WhyReply>(kind, body,
                                        [this](const auto& message) { OnWhyReply(message, true); });
    case wire::Kind::kLeft:
      return Parsed<wire::pb::Left>(kind, body, [this](const auto& message) { requests_.OnLeft(message); });
    case wire::Kind::kJobEnd:
      return Parsed<wire::pb::JobEnd>(kind, body, [this](const auto& message) {
        if (phase_ == Phase::kFinished) return;
        Fail(message.code() != 0 ? StatusFromWire(message.code(), message.message())
                                 : Cancelled("the job has ended before this worker left it"));
      });
    default:
      return Protocol("the scheduler sent a {} frame, which is none for a worker", wire::KindName(kind));
  }
}

Status WorkerNode::Core::OnVerdicts(ShardPort& port, std::span<const std::byte> body,
                                    std::uint64_t payload_bytes) {
  LW_RETURN_IF_ERROR(wire::Decode(body, payload_bytes, verdicts_));
  LW_RETURN_IF_ERROR(CheckAddressee(verdicts_.worker, verdicts_.incarnation));
  for (const wire::VerdictEntry& entry : verdicts_.entries) {
    LW_RETURN_IF_ERROR(OnVerdict(port, entry));
    if (phase_ == Phase::kFailed) break;
  }
  // At once: this worker may be killed before its next beat, and nobody else knows.
  if (std::exchange(lost_unreported_, false)) SendReport();
  AnswerIfSettled();
  LeaveIfSettled();
  StepIfSettled();
  if (rules_.any_bounded()) LetUseAll();
  return Status::Ok();
}

Status WorkerNode::Core::OnVerdict(ShardPort& port, const wire::VerdictEntry& entry) {
  WorkerBlock* block = tables_.FindBlock(entry.block);
  if (block == nullptr)
    return Protocol("a verdict for block {}, which no table of this worker has", entry.block.value());
  if (block->shard != port.shard()) return Status::Ok();  // of an owner before the last move
  if (entry.verdict == wire::Verdict::kRefused && entry.seq == Seq(0)) {
    OnInitialized(*block, true);
    return Status::Ok();
  }
  // What an owner says of another term concerns none of what is in flight now; that it is another, it may
  // say.
  if (entry.term != block->term && entry.verdict != wire::Verdict::kMoved &&
      entry.verdict != wire::Verdict::kFenced) {
    return Status::Ok();
  }
  if (entry.term == block->term) block->told = std::max(block->told, entry.v_train);
  if (wire::ConsumesSeq(entry.verdict)) {
    Result<std::optional<QueuedPush>> settled = ports_.Settle(port, *block, entry.seq);
    if (!settled.ok()) return settled.status().WithContext(fmt::format("block {}", entry.block.value()));
    return settled->has_value() ? OnSettled(*block, **settled, entry) : Status::Ok();
  }
  switch (entry.verdict) {
    case wire::Verdict::kInitialized:
      OnInitialized(*block, false);
      break;
    case wire::Verdict::kGap:
      if (block->resuming) {
        OnResumed(*block, entry.seq);
        break;
      }
      port.ChangeQueue(*block, [&](PushQueue& queue) { queue.OnGap(entry.seq); });
      break;
    case wire::Verdict::kWindow:
      port.ChangeQueue(*block, [&](PushQueue& queue) { queue.OnWindow(entry.seq); });
      break;
    case wire::Verdict::kOpen:
      port.ChangeQueue(*block, [&](PushQueue& queue) { queue.OnOpen(); });
      break;
    case wire::Verdict::kMoved:
      OnMoved(*block);
      break;
    case wire::Verdict::kFenced:
      Fail(Fenced("{} fenced worker {} incarnation {}: this life was declared dead or replaced",
                  port.link().peer(), stance_.worker.value(), stance_.incarnation.value()));
      break;
    default:
      break;
  }
  return Status::Ok();
}

Status WorkerNode::Core::OnSettled(WorkerBlock& block, QueuedPush& push, const wire::VerdictEntry& entry) {
  const wire::Verdict verdict = entry.verdict;
  map_backoff_ = {};  // the block was found
  if (push.lent != nullptr && push.lent->assigns) {
    block.NoteAssigned(push.seq);
    if (verdict == wire::Verdict::kApplied) block.seen = block.term;
    loans_.OnAssigned(block, std::move(push.lent), verdict);
    return Status::Ok();
  }
  switch (verdict) {
    case wire::Verdict::kApplied:
      ++counters_.applied;
      block.seen = block.term;
      break;
    case wire::Verdict::kSummed:
      ++counters_.summed;
      block.seen = block.term;
      break;
    case wire::Verdict::kAbsent:
      ++counters_.absent;
      break;
    case wire::Verdict::kLateDropped:
      ++counters_.late_dropped;
      break;
    default:
      ++counters_.refused;
      break;
  }
  if (observer_) observer_(block.table->id, block.id, push.seq, push.iteration, verdict, entry.v_train);
  if (push.lent != nullptr) loans_.OnGradient(block, std::move(push.lent), verdict);
  return Status::Ok();
}

Status WorkerNode::Core::OnAnswers(ShardPort& port, AnswerLanding& landing) {
  const wire::Answers& answers = landing.answers;
  LW_RETURN_IF_ERROR(CheckAddressee(answers.worker, answers.incarnation));
  answered_.clear();
  for (std::size_t i = 0; i < answers.entries.size(); ++i) {
    const WorkerBlock* block = tables_.FindBlock(answers.entries[i].block);
    if (block == nullptr) {
      return Protocol("an answer for block {}, which no table of this worker has",
                      answers.entries[i].block.value());
    }
    LW_RETURN_IF_ERROR(OnAnswer(port, answers.entries[i], landing.slots[i]));
    if (!block->table->IsOwnClock() && (answered_.empty() || answered_.back() != block->table)) {
      answered_.push_back(block->table);
    }
  }
  partial_.CountArrived(tables_, iteration_ - 1);
  for (WorkerTable* table : answered_) PublishIfWhole(*table);
  FinishIfWhole();
  return Status::Ok();
}

Status WorkerNode::Core::OnAnswer(ShardPort& port, const wire::AnswerEntry& entry, Slot& slot) {
  WorkerBlock& block = *tables_.FindBlock(entry.block);
  WorkerTable& table = *block.table;
  ++counters_.answers;
  if (!stance_.observer)
    counters_.lead_sum += static_cast<std::uint64_t>(table.CountOwn(entry.v_train, entry.progress));
  const bool has_values = entry.payload_bytes > 0;
  if (!has_values) ++counters_.unchanged;
  if (block.term == entry.term) block.told = std::max(block.told, entry.v_train);
  if (has_values ? slot.use == Slot::Use::kNothing : !IsWanted(port, block, entry)) return Status::Ok();
  if (has_values) block.seen = block.term;
  table.ended_by = &block;
  table.ended_for = entry.held_for;
  if (!table.IsOwnClock()) {
    if (has_values) {
      table.landing.Arrived(block.index, entry.progress, entry.version, std::move(slot.staged));
    } else if (!table.landing.Unchanged(block.index, entry.progress, entry.version)) {
      // What the server takes us to hold was overwritten by an answer that was cut off: ask again.
      block.pull.AskAgain();
      port.Touch(block);
      return Status::Ok();
    }
    table.landing.Stamp(block.index, entry.v_train);
    block.pull.Settle(entry.progress);
    // Iterations may have passed since it was asked for that need no newer values.
    if (!block.pull.open() && !step_.behind()) table.landing.Serve(block.index, iteration_ - 1);
    return Status::Ok();
  }
  block.pull.Settle(entry.progress);
  IntoPull& into = table.into.front();
  if (!has_values) {
    into.outcome = FailedPrecondition(
        "table \"{}\" never got initial values, and nobody is left to give it some", table.spec.name);
  }
  if (--into.blocks_left > 0) return Status::Ok();
  due_.LaterDone(std::move(into.done), into.outcome);
  (void)table.into.pop_front();
  if (table.into.empty()) return Status::Ok();
  BeginInto(table);
  ports_.Flush();  // its blocks are on other shards as well
  return Status::Ok();
}

}  // namespace leeway
