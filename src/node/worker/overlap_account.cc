#include "node/worker/overlap_account.h"

#include <algorithm>

namespace leeway {

std::optional<double> OverlapTimes::overlap() const {
  if (communication <= Duration::zero()) return std::nullopt;
  return 1.0 - static_cast<double>(waited().count()) / static_cast<double>(communication.count());
}

OverlapTimes& OverlapTimes::operator+=(const OverlapTimes& other) {
  communication += other.communication;
  queue += other.queue;
  held += other.held;
  wire += other.wire;
  delay += other.delay;
  pushes += other.pushes;
  slow_pushes += other.slow_pushes;
  return *this;
}

OverlapAccount::Record& OverlapAccount::At(TableId table) {
  if (table.index() >= tables_.size()) tables_.resize(table.index() + 1);
  return tables_[table.index()];
}

void OverlapAccount::BeginBusy(TimePoint at) {
  // Events carry times from before the node's thread saw them: no moment counts twice.
  if (busy_++ == 0) busy_since_ = std::max(at, busy_ended_);
}

void OverlapAccount::EndBusy(TimePoint now) {
  if (--busy_ > 0) return;
  busy_ended_ = std::max(now, busy_since_);
  total_.communication += busy_ended_ - busy_since_;
}

void OverlapAccount::Ready(TableId table, Iteration iteration, TimePoint at, TimePoint now) {
  if (stopped_) return;
  Record& record = At(table);
  at = std::min(at, now);
  if (record.open) {
    // Its values never came, or nobody asked for them: a newer question replaces the older.
    Close(record, now);
  } else {
    BeginBusy(at);
  }
  began_ = true;
  record.iteration = iteration;
  record.ready = at;
  record.open = true;
  record.sent = false;
  record.held = Duration::zero();
}

void OverlapAccount::Left(TableId table, Iteration iteration, TimePoint now) {
  if (!IsOpen(table)) return;
  Record& record = tables_[table.index()];
  if (record.iteration != iteration) return;
  record.left = now;
  record.sent = true;
}

void OverlapAccount::Arrived(TableId table, Iteration progress, Duration held, TimePoint now) {
  if (!IsOpen(table)) return;
  Record& record = tables_[table.index()];
  if (progress < record.iteration) return;
  record.held = held;
  record.arrived = now;
  record.open = false;
  Close(record, now);
  EndBusy(now);
}

void OverlapAccount::Close(Record& record, TimePoint now) {
  record.sums.communication += now - record.ready;
  if (!record.sent) return;
  const Duration delay = record.left - record.ready;
  for (OverlapTimes* sums : {&record.sums, &total_}) {
    ++sums->pushes;
    sums->delay += delay;
    if (delay > kSlowPush) ++sums->slow_pushes;
  }
}

void OverlapAccount::Needed(TableId table, TimePoint at, TimePoint now) {
  // Before the first gradient there is no communication that computing could hide.
  if (!began_ || stopped_) return;
  Record& record = At(table);
  if (record.waiting) return;
  record.waiting = true;
  record.needed = std::min(at, now);
  BeginBusy(record.needed);
}

void OverlapAccount::Released(TableId table, TimePoint now) {
  if (table.index() >= tables_.size() || !tables_[table.index()].waiting) return;
  Record& record = tables_[table.index()];
  record.waiting = false;
  const TimePoint from = std::max(record.needed, charged_until_);
  if (now > from) {
    Charge(record, from, now, record.sums);
    Charge(record, from, now, total_);
    charged_until_ = now;
  }
  EndBusy(now);
}

void OverlapAccount::Charge(const Record& record, TimePoint from, TimePoint now, OverlapTimes& sums) const {
  const TimePoint arrived = record.open ? now : std::clamp(record.arrived, from, now);
  // An absence has no frame of its own that the account knows of.
  const TimePoint left = record.sent ? std::clamp(record.left, from, arrived) : from;
  sums.queue += left - from;
  const TimePoint asked = std::clamp(barrier_passed_, left, arrived);
  sums.held += asked - left;
  // An answer says how long the model held it, and not when. The ways there and back count as equally long.
  const TimePoint sent = std::max(record.sent ? record.left : record.ready, barrier_passed_);
  const Duration ways = std::max(record.arrived - sent - record.held, Duration::zero());
  const TimePoint held_from = std::clamp(sent + ways / 2, asked, arrived);
  const TimePoint held_until = std::clamp(sent + ways / 2 + record.held, held_from, arrived);
  sums.held += held_until - held_from;
  sums.wire += arrived - asked - (held_until - held_from);
  sums.held += now - arrived;
}

void OverlapAccount::Stop(TimePoint now) {
  for (Record& record : tables_) {
    if (record.open) EndBusy(now);
    if (record.waiting) EndBusy(now);
    record.open = record.waiting = false;
  }
  stopped_ = true;
}

OverlapTimes OverlapAccount::Total(TimePoint now) const {
  OverlapTimes total = total_;
  if (busy_ > 0) total.communication += std::max(now, busy_since_) - busy_since_;
  return total;
}

OverlapTimes OverlapAccount::Of(TableId table) const {
  return table.index() < tables_.size() ? tables_[table.index()].sums : OverlapTimes();
}

}  // namespace leeway
