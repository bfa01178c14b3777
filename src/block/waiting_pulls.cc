#include "block/waiting_pulls.h"

#include <algorithm>
#include <utility>

namespace leeway {

void WaitingPulls::Block(const PullEvent& pull, TimePoint since) {
  const WorkerId worker = pull.from.worker;
  Drop(worker);
  Entry& entry = entries_[worker];
  entry.state = Entry::State::kBlocked;
  entry.waiting = {pull, since};
  blocked_.Add(worker);
}

bool WaitingPulls::Delay(const PullEvent& pull, TimePoint since) {
  const WorkerId worker = pull.from.worker;
  Drop(worker);
  Entry& entry = entries_[worker];
  entry.state = Entry::State::kDelayed;
  entry.waiting = {pull, since};
  AddToRow(pull.progress, worker);
  ++delayed_;
  if (entry.last_life == pull.from && pull.progress <= entry.last_delayed) return false;
  entry.last_life = pull.from;
  entry.last_delayed = pull.progress;
  return true;
}

void WaitingPulls::AddToRow(Iteration progress, WorkerId worker) {
  auto row = std::ranges::lower_bound(rows_, progress, {}, &Row::progress);
  if (row == rows_.end() || row->progress != progress) {
    row = rows_.insert(row, Row{.progress = progress});
    if (!spare_.empty()) {
      row->workers = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  row->workers.Add(worker);
}

void WaitingPulls::Drop(WorkerId worker) {
  Entry* const entry = entries_.Find(worker);
  if (entry == nullptr || entry->state == Entry::State::kNone) return;
  if (std::exchange(entry->state, Entry::State::kNone) == Entry::State::kBlocked) {
    blocked_.Remove(worker);
    return;
  }
  --delayed_;
  const auto row = std::ranges::lower_bound(rows_, entry->waiting.pull.progress, {}, &Row::progress);
  row->workers.Remove(worker);
  if (!row->workers.empty()) return;
  spare_.push_back(std::move(row->workers));
  rows_.erase(row);
}

std::optional<WaitingPull> WaitingPulls::Take(MemberKey life) {
  const Entry* const entry = entries_.Find(life.worker);
  if (entry == nullptr || entry->state == Entry::State::kNone || entry->waiting.pull.from != life)
    return std::nullopt;
  const WaitingPull taken = entry->waiting;
  Drop(life.worker);
  return taken;
}

std::optional<WaitingPull> WaitingPulls::TakeDelayedBelow(Iteration v_train) {
  if (rows_.empty() || rows_.front().progress >= v_train) return std::nullopt;
  const std::optional<WorkerId> worker = rows_.front().workers.TakeLowest();
  if (rows_.front().workers.empty()) {
    spare_.push_back(std::move(rows_.front().workers));
    rows_.erase(rows_.begin());
  }
  --delayed_;
  Entry& entry = *entries_.Find(*worker);
  entry.state = Entry::State::kNone;
  return entry.waiting;
}

std::vector<WaitingPull> WaitingPulls::TakeDelayed() {
  std::vector<WaitingPull> taken;
  while (const std::optional<WaitingPull> next = TakeDelayedBelow(kIterationMax)) taken.push_back(*next);
  return taken;
}

std::vector<WaitingPull> WaitingPulls::TakeBlocked() {
  std::vector<WaitingPull> taken;
  while (const std::optional<WorkerId> worker = blocked_.TakeLowest()) {
    Entry& entry = *entries_.Find(*worker);
    entry.state = Entry::State::kNone;
    taken.push_back(entry.waiting);
  }
  return taken;
}

bool WaitingPulls::Waits(WorkerId worker) const {
  const Entry* const entry = entries_.Find(worker);
  return entry != nullptr && entry->state != Entry::State::kNone;
}

std::vector<PullEvent> WaitingPulls::List() const {
  std::vector<PullEvent> list;
  entries_.ForEach([&list](WorkerId, const Entry& entry) {
    if (entry.state != Entry::State::kNone) list.push_back(entry.waiting.pull);
  });
  return list;
}

}  // namespace leeway
