// Leaving, finishing, shutting down and failing: every way in which a worker ends.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

Status WorkerNode::Core::MayMeet(const std::string& what) const {
  LW_RETURN_IF_ERROR(CheckMember());
  return steps_ == 0 ? Status::Ok() : rules_.MayMeet(what, tables_);
}

void WorkerNode::Core::Barrier(const std::string& name, Done done) {
  if (Status may = MayMeet(fmt::format("barrier \"{}\"", name)); !may.ok())
    return due_.LaterDone(std::move(done), may);
  NoteBeforeTraining();
  requests_.Barrier(name, iteration_, steps_, std::move(done));
}

void WorkerNode::Core::LeaseBatches(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                                    std::span<const Iteration> used, SchedulerRequests::LeaseDone done) {
  if (Status member = CheckMember(); !member.ok()) {
    return due_.Later([done = std::move(done), member] { done(member, {}); });
  }
  NoteBeforeTraining();
  // Without a table of the job's clock no push tells what became of a batch: the worker's word is all there
  // is.
  const bool iterates =
      std::ranges::any_of(tables_.all(), [](const auto& table) { return !table->IsOwnClock(); });
  requests_.Lease(pool, batches, wanted, used,
                  {iteration_, iterates ? tables_.SettledBefore(iteration_) : kIterationMax},
                  std::move(done));
}

void WorkerNode::Core::SetSync(const std::string& rule, SchedulerRequests::SetSyncDone done) {
  if (Status member = CheckMember(); !member.ok()) {
    return due_.Later([done = std::move(done), member] { done(member, 0); });
  }
  requests_.SetSync(rule, std::move(done));
}

void WorkerNode::Core::OnLoansLooked() {
  if (!loans_.draining()) {
    if (phase_ == Phase::kFailed && !std::exchange(failure_told_, true)) {
      due_.Later([this] { events_.OnFailed(failure_); });
    }
    for (Done& done : std::exchange(stop_done_, {})) {
      due_.LaterDone(std::move(done), phase_ == Phase::kFailed ? failure_ : Status::Ok());
    }
  }
  due_.Run();
}

void WorkerNode::Core::Leave(Done done) {
  if (phase_ == Phase::kObserver || phase_ == Phase::kFinishing || phase_ == Phase::kFinished) {
    return due_.LaterDone(std::move(done), Status::Ok());
  }
  if (phase_ != Phase::kLeaving) {
    if (Status member = CheckMember(); !member.ok()) return due_.LaterDone(std::move(done), member);
    phase_ = Phase::kLeaving;
    phase_since_ = env_.clock.Now();
    leave_done_.push_back(std::move(done));
    client_state_.Leave(iteration_);
    DropSteps();
    PushSums();
    LeaveIfSettled();
  } else {
    leave_done_.push_back(std::move(done));
  }
}

void WorkerNode::Core::LeaveIfSettled() {
  if (phase_ != Phase::kLeaving || leave_sent_ || ports_.unsettled() > 0 || inits_open_ > 0) return;
  leave_sent_ = true;
  SendReport();  // a script may end here without another word
  // Sums that were pushed last may be of a later iteration than the one that this worker was in.
  Iteration end = iteration_;
  tables_.ForEachJobClock([&end](const WorkerTable& table) { end = std::max(end, table.pushed + 1); });
  requests_.Leave(end, [this](Epoch epoch) { OnLeft(epoch); });
}

void WorkerNode::Core::OnLeft(Epoch epoch) {
  phase_ = Phase::kObserver;
  stance_.observer = true;
  CountRules();  // one that counts no more is held up by none of them
  LetUseAll();
  stance_.epoch_min = epoch;
  // What was asked as a member may wait for an iteration that this worker no longer takes part in: asked as
  // an observer it is answered with what there is.
  tables_.ForEachBlock([this](WorkerBlock& block) {
    if (!block.pull.open()) return;
    block.pull.AskAgain();
    ports_.Of(block).Touch(block);
  });
  ports_.Flush();
  for (Done& done : std::exchange(leave_done_, {})) due_.LaterDone(std::move(done), Status::Ok());
}

void WorkerNode::Core::Finish(Done done) {
  switch (phase_) {
    case Phase::kFailed:
      return due_.LaterDone(std::move(done), failure_);
    case Phase::kFinished:
      return due_.LaterDone(std::move(done), Status::Ok());
    case Phase::kFinishing:
      finish_done_.push_back(std::move(done));
      return;
    case Phase::kObserver:
      break;
    default:
      return due_.LaterDone(std::move(done),
                            FailedPrecondition("finish after leave: the worker still counts"));
  }
  phase_ = Phase::kFinishing;
  phase_since_ = env_.clock.Now();
  finish_done_.push_back(std::move(done));
  if (roster_.AllGone()) PullFinal();
}

void WorkerNode::Core::PullFinal() {
  stance_.epoch_min = roster_.epoch();
  // Above every progress asked before, so that no earlier answer is taken for the final one.
  final_progress_ = iteration_ + 1;
  for (const std::unique_ptr<WorkerTable>& owned : tables_.all()) {
    WorkerTable& table = *owned;
    if (table.state != WorkerTable::State::kPlaced) continue;
    if (!table.IsOwnClock()) {
      ports_.Pull(table, final_progress_, env_.clock.Now());
      continue;
    }
    ++final_left_;
    // Nothing of an own-clock table was published before: its back buffer is free.
    auto done = [this, &table](const Status& status) {
      if (status.ok()) {
        table.pair.Publish(final_progress_);
      } else {
        table.pair.Extend(final_progress_);
      }
      --final_left_;
      FinishIfWhole();
    };
    // Above the progress of every earlier pull: the answer to one that was asked twice is not taken for this
    // one's.
    table.into.push_back({table.pair.Back(), table.pushed + 1, table.blocks.size(), Status::Ok(), done});
    if (table.into.size() == 1) BeginInto(table);
  }
  ports_.Flush();
  FinishIfWhole();
}

bool WorkerNode::Core::WritesState() const {
  // A disk that does not answer holds nobody up for longer than a peer that does not.
  const std::optional<TimePoint> since = client_state_.writing_since();
  return since && env_.clock.Now() - *since < options_.link.give_up_after;
}

void WorkerNode::Core::FinishIfWhole() {
  if (phase_ != Phase::kFinishing || final_progress_ == kIterationMax || final_left_ > 0) return;
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    if (table->state != WorkerTable::State::kPlaced || table->IsOwnClock()) continue;
    if (table->landing.published() < final_progress_) return;
  }
  if (WritesState()) return;
  phase_ = Phase::kFinished;
  SendReport();  // no server is needed any more, though a script may go on for long before it says goodbye
  for (Done& done : std::exchange(finish_done_, {})) due_.LaterDone(std::move(done), Status::Ok());
}

void WorkerNode::Core::Shutdown(Done done) {
  if (phase_ != Phase::kStopped && phase_ != Phase::kFailed) {
    // The last beat: so that the job's summary has this worker's final figures.
    SendReport();
    // First, so that no pending request takes its end for a failure of the job.
    phase_ = Phase::kStopped;
    FailPending(Cancelled("the worker was shut down"));
    StopLinks(Status::Ok());
  }
  // Not while a send still reads a lent gradient: its owner is told before this.
  if (loans_.draining()) return stop_done_.push_back(std::move(done));
  due_.LaterDone(std::move(done), phase_ == Phase::kFailed ? failure_ : Status::Ok());
}

void WorkerNode::Core::Fail(const Status& why) {
  if (phase_ == Phase::kFailed || phase_ == Phase::kStopped) return;
  phase_ = Phase::kFailed;
  failure_ = why;
  events_.OnFailing(why);
  StopLinks(why);
  FailPending(why);
  if (!loans_.draining() && !std::exchange(failure_told_, true))
    due_.Later([this] { events_.OnFailed(failure_); });
}

void WorkerNode::Core::StopLinks(const Status& why) {
  env_.timers.Cancel(std::exchange(report_timer_, {}));
  env_.timers.Cancel(std::exchange(map_timer_, {}));
  partial_.Stop();
  DropInquiries();
  // Shards first: when the scheduler hears of the end, this worker's pushes are no longer under way.
  ports_.Stop(why);
  scheduler_.Stop(why);
}

void WorkerNode::Core::FailPending(const Status& why) {
  for (std::vector<Done>* list : {&join_done_, &leave_done_, &finish_done_}) {
    for (Done& done : std::exchange(*list, {})) due_.LaterDone(std::move(done), why);
  }
  requests_.FailAll(why);
  FailReads(why);
  std::vector<std::shared_ptr<LentPush>> lents;
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    for (WorkerTable::Waiter& waiter : std::exchange(table->waiters, {})) {
      due_.LaterDone(std::move(waiter.usable), why);
      EndWait(nullptr);
    }
    while (!table->into.empty()) due_.LaterDone(table->into.pop_front().done, why);
    for (WorkerBlock& block : table->blocks) {
      block.pull.Drop();
      if (block.init != nullptr) lents.push_back(std::exchange(block.init, nullptr));
      ports_.Of(block).ChangeQueue(block, [&](PushQueue& queue) {
        queue.Drain([&](QueuedPush& push) {
          if (push.lent != nullptr) lents.push_back(std::move(push.lent));
        });
      });
    }
  }
  // Each gradient once, in the order in which they were lent.
  while (!lents.empty()) {
    std::shared_ptr<LentPush> lent = lents.front();
    std::erase(lents, lent);
    loans_.Return(std::move(lent), why);
  }
}

}  // namespace leeway
