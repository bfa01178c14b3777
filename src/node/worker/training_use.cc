// Values in: asking for them, taking them, and when a table may be used.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "node/worker/training.h"

namespace leeway {
namespace {

// Only a block under relay answers with means, and no member gets one that it does not ask for yet.
Status CheckMean(const WorkerBlock& block, const wire::AnswerEntry& entry, bool observer) {
  if (entry.mean == Iteration(-1)) return Status::Ok();
  if (!block.model->relay) {
    return Protocol("table \"{}\" block {}: an answer with the mean of iteration {}, wanted values",
                    block.table->spec.name, entry.block.value(), entry.mean.value());
  }
  const std::optional<Iteration> progress = block.pull.ProgressOf(entry.ask);
  if (observer || !progress || entry.mean <= *progress) return Status::Ok();
  return Protocol("table \"{}\" block {}: an answer with the mean of iteration {}, wanted that of {}",
                  block.table->spec.name, entry.block.value(), entry.mean.value(), progress->value());
}

}  // namespace

void Training::RequestBlocks(WorkerTable& table, Iteration progress) {
  const bool exchanged = table.exchanged == progress;
  // Without overlap the questions come after the barrier.
  if (exchanged && step_.HoldsPulls(progress == iteration_)) return;
  const TimePoint now = env_.clock.Now();
  for (WorkerBlock& block : table.blocks) {
    const std::optional<std::int64_t> age_max = block.model->rule.cache_age_max;
    const bool fresh = age_max && table.HoldsWithin(block, progress, *age_max);
    if (exchanged && !fresh) {
      ports_.Pull(block, progress, now);
    } else if (!block.pull.open()) {
      table.landing.Serve(block.index, progress);
    }
  }
  PublishIfWhole(table);
}

void Training::RequestAll() {
  tables_.ForEachJobClock([this](WorkerTable& table) { RequestBlocks(table, iteration_ - 1); });
  ports_.Flush();
}

void Training::Sync(TableId id, Done usable, TimePoint asked) {
  Result<WorkerTable*> found = tables_.FindPlaced(id);
  if (!found.ok()) return due_.LaterDone(std::move(usable), found.status());
  WorkerTable& table = **found;
  const Iteration needed = iteration_ - 1;
  if (table.IsOwnClock()) {
    if (table.pair.ready() >= needed) return due_.LaterDone(std::move(usable), Status::Ok());
    return due_.LaterDone(
        std::move(usable),
        FailedPrecondition("table \"{}\" has a clock of its own: read it with Pull", table.spec.name));
  }
  if (use_order_) use_order_->NoteUse(id);
  const TimePoint now = env_.clock.Now();
  waits_.Begin(now);
  communication_.account().Needed(id, asked, now);
  table.waiters.push_back({needed, now, std::move(usable)});
  table.ended_by = nullptr;
  table.ended_for = kNoWorker;
  ReleaseWaiters(table);
}

void Training::EndWait(const WorkerTable* table) {
  const TimePoint now = env_.clock.Now();
  if (!waits_.End(now)) return;
  NoteBeforeTraining();
  if (table == nullptr) return;
  const WorkerBlock* last = table->ended_by;
  waits_.Charge(*table, last == nullptr ? 0 : ports_.servers()[last->shard.index()], step_.passed_at(), now);
}

void Training::PublishIfWhole(WorkerTable& table) {
  if (table.front_lent == 0 && table.landing.PublishIfWhole(iteration_ - 1)) partial_.OnWhole(table);
  communication_.NoteArrival(table);
  ReleaseWaiters(table);
}

void Training::ReleaseWaiters(WorkerTable& table) {
  if (table.waiters.empty()) return;
  const auto is_ready = [&table](const WorkerTable::Waiter& waiter) {
    return waiter.needed <= table.pair.ready();
  };
  const auto any_ready = [&] { return std::ranges::any_of(table.waiters, is_ready); };
  const auto may_use_partly = [&] { return is_member_ && partial_.MayUse(table, iteration_ - 1); };
  if (!any_ready() && !may_use_partly()) return;
  if (WorkerBlock* held = is_member_ ? rules_.HeldUp(tables_, iteration_) : nullptr; held != nullptr) {
    table.ended_by = held;
    table.ended_for = kNoWorker;
    return;
  }
  // The answers may say that this iteration is over elsewhere. Then the worker begins a later one instead,
  // for which it may have to wait for the table again, and has left no block out yet.
  SkipAhead();
  if (!any_ready() && may_use_partly()) partial_.Use(table, iteration_ - 1);
  communication_.NoteArrival(table);
  auto& waiters = table.waiters;
  for (WorkerTable::Waiter& waiter : waiters) {
    if (!is_ready(waiter)) continue;
    due_.LaterDone(std::move(waiter.usable), Status::Ok());
    EndWait(&table);
  }
  std::erase_if(waiters, is_ready);
  if (waiters.empty()) communication_.account().Released(table.id, env_.clock.Now());
}

void Training::ReleaseAllWaiters() {
  if (waits_.open() == 0) return;
  tables_.ForEachJobClock([this](WorkerTable& table) { ReleaseWaiters(table); });
}

void Training::SkipAhead() {
  if (!is_member_ || handed_ == iteration_) return;
  const Iteration lowest = rules_.LowestTold(tables_);
  if (lowest <= iteration_ || lowest == kIterationMax) return;
  counters_.iterations_skipped += static_cast<std::uint64_t>(lowest - iteration_);
  iteration_ = lowest;
  events_.iteration(iteration_);
  const Iteration before = iteration_ - 1;
  const bool ask = !step_.behind();  // else after the barrier
  tables_.ForEachJobClock([&](WorkerTable& table) {
    bool asks = false;
    for (WorkerBlock& block : table.blocks) {
      // Others may wait here for the iterations that are left out, and this worker for them.
      if (block.told < iteration_) ports_.MarkAbsent(block, before);
      const Iteration oldest = iteration_ - block.model->rule.cache_age_max.value_or(0);
      const bool serves = table.landing.HeldVTrain(block.index) >= oldest || table.exchanged < table.pushed;
      if (!serves && ask) {
        ports_.Pull(block, before, env_.clock.Now());
        asks = true;
      } else if (ask && !block.pull.open()) {
        table.landing.Serve(block.index, before);
      }
    }
    if (asks) communication_.Begin(table, before, env_.clock.Now());
    if (table.exchanged == table.pushed) table.exchanged = before;
    table.pushed = before;
    for (WorkerTable::Waiter& waiter : table.waiters) waiter.needed = before;
  });
  partial_.Begin();
  partial_.CountArrived(tables_, before);
  tables_.ForEachJobClock([this](WorkerTable& table) { PublishIfWhole(table); });
  ports_.Flush();
}

void Training::StepIfSettled() {
  if (!step_.behind() || step_.entered() || !is_member_) return;
  // Tables with clocks of their own have no part in it: their verdicts may wait for what others push later.
  const WorkerBlock* unsettled = tables_.FindBlockThat(
      [](const WorkerBlock& block) { return !block.table->IsOwnClock() && !block.pushes.empty(); });
  if (unsettled == nullptr && step_.Enter()) events_.at_barrier();
}

void Training::OnStepped() {
  step_.Pass(env_.clock.Now());
  if (step_.behind()) return StepIfSettled();
  communication_.account().NoteBarrier(env_.clock.Now());
  RequestAll();
}

Status Training::OnAnswers(ShardPort& port, AnswerLanding& landing) {
  const wire::Answers& answers = landing.answers;
  LW_RETURN_IF_ERROR(self_.CheckAddressee(answers.worker, answers.incarnation));
  answered_.clear();
  for (std::size_t i = 0; i < answers.entries.size(); ++i) {
    WorkerBlock* block = tables_.FindBlock(answers.entries[i].block);
    if (block == nullptr) {
      return Protocol("an answer for block {}, which no table of this worker has",
                      answers.entries[i].block.value());
    }
    LW_RETURN_IF_ERROR(CheckMean(*block, answers.entries[i], self_.observer));
    OnAnswer(port, *block, answers.entries[i], landing.slots[i]);
    if (!block->table->IsOwnClock() && (answered_.empty() || answered_.back() != block->table)) {
      answered_.push_back(block->table);
    }
  }
  partial_.CountArrived(tables_, iteration_ - 1);
  for (WorkerTable* table : answered_) PublishIfWhole(*table);
  return Status::Ok();
}

void Training::OnAnswer(ShardPort& port, WorkerBlock& block, const wire::AnswerEntry& entry,
                        AnswerLanding::Slot& slot) {
  WorkerTable& table = *block.table;
  ++counters_.answers;
  // An answer to a question that is forgotten is late; nobody knows of which iteration.
  const std::optional<Iteration> progress = block.pull.ProgressOf(entry.ask);
  if (block.term == entry.term && (!progress || *progress <= block.passed)) ++counters_.late_answers;
  if (!self_.observer && progress)
    counters_.lead_sum += static_cast<std::uint64_t>(table.CountOwn(entry.v_train, *progress));
  const bool has_values = entry.payload_bytes > 0;
  const bool no_gradient = entry.content == wire::AnswerEntry::Content::kNoGradient;
  if (!has_values && !no_gradient) ++counters_.unchanged;
  if (block.term == entry.term) block.told = std::max(block.told, entry.v_train);
  const bool wanted = has_values ? slot.use != AnswerLanding::Slot::Use::kNothing
                                 : AnswerLandings::IsWanted(port.shard(), block, entry);
  if (!wanted || !progress) return;
  if (has_values) block.seen = block.term;
  table.ended_by = &block;
  table.ended_for = entry.held_for;
  table.ended_held = std::chrono::microseconds(entry.held_us);
  if (table.IsOwnClock()) {
    block.pull.Settle(*progress);
    return own_pulls_.OnAnswer(table, has_values, ports_);
  }
  if (has_values) {
    table.landing.Arrived(block.index, *progress, entry.version, std::move(slot.staged));
  } else if (no_gradient) {
    table.landing.ArrivedWithout(block.index, *progress, entry.version);
  } else if (!table.landing.Unchanged(block.index, *progress, entry.version)) {
    // An answer that was cut off has overwritten the version that the server takes us to hold: ask again.
    block.pull.AskAgain();
    port.Touch(block);
    return;
  }
  table.landing.Stamp(block.index, entry.v_train);
  block.pull.Settle(*progress);
  // Iterations may have passed since it was asked for that need no newer values.
  if (!block.pull.open() && !step_.behind()) table.landing.Serve(block.index, iteration_ - 1);
}

}  // namespace leeway
