#include "node/worker/wait_account.h"

#include <string>

#include "node/worker/wait_causes.h"

namespace leeway {

bool WaitAccount::End(TimePoint now) {
  if (--open_ > 0) return false;
  counters_.wait_ns += static_cast<std::uint64_t>((now - since_).count());
  return true;
}

void WaitAccount::Charge(const WorkerTable& table, std::uint32_t server, TimePoint barrier_passed,
                         TimePoint now) {
  // Without overlap the others were waited for first, and only then the values.
  TimePoint since = since_;
  if (barrier_passed > since) {
    WaitCauses::Add(counters_.wait_by_ns, "step", "barrier", barrier_passed - since);
    since = barrier_passed;
  }
  WorkerBlock* block = table.ended_by;
  if (block == nullptr || now <= since) return;
  if (block->waited_by_server == nullptr) {
    block->waited_by_server = &WaitCauses::Of(counters_.wait_by_ns, "server", std::to_string(server));
    block->waited_by_table = &WaitCauses::Of(counters_.wait_by_ns, "table", block->table->spec.name);
  }
  *block->waited_by_server += static_cast<std::uint64_t>((now - since).count());
  *block->waited_by_table += static_cast<std::uint64_t>((now - since).count());
  block->waited += now - since;
  if (table.ended_for == kNoWorker) return;
  if (waited_for_ != table.ended_for) {
    waited_for_ = table.ended_for;
    waited_by_worker_ = &WaitCauses::Of(counters_.wait_by_ns, "worker", std::to_string(waited_for_.value()));
  }
  *waited_by_worker_ += static_cast<std::uint64_t>((now - since).count());
}

void WaitAccount::NoteBeforeTraining(TimePoint now) {
  training_began_ = step_began_ = now;
  wait_ns_before_ = counters_.wait_ns;
}

void WaitAccount::NoteStep(TimePoint now) {
  step_began_ = now;
  step_ended_ = now;
  wait_ns_before_ = counters_.wait_ns;
}

std::optional<Duration> WaitAccount::SinceTrainingBegan(TimePoint now) const {
  return training_began_ ? std::optional(now - *training_began_) : std::nullopt;
}

std::optional<Duration> WaitAccount::SinceStep(TimePoint now) const {
  return step_ended_ ? std::optional(now - *step_ended_) : std::nullopt;
}

Duration WaitAccount::Computing(TimePoint now) const {
  return now - step_began_ - Duration(static_cast<std::int64_t>(counters_.wait_ns - wait_ns_before_));
}

}  // namespace leeway
