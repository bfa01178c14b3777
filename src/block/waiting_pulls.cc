#include "block/waiting_pulls.h"

#include <algorithm>
#include <utility>

namespace leeway {

void WaitingPulls::HoldUnready(const PullEvent& pull, TimePoint since) {
  const WorkerId worker = pull.from.worker;
  Drop(worker);
  entries_[worker].waiting = {pull, since};
  unready_.Add(worker);
}

bool WaitingPulls::Delay(const PullEvent& pull, TimePoint since) {
  const WorkerId worker = pull.from.worker;
  Drop(worker);
  Entry& entry = entries_[worker];
  entry.waiting = {pull, since};
  AddToRow(pull.progress, worker);
  delayed_.Add(worker);
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
  unready_.Remove(worker);
  if (!delayed_.Contains(worker)) return;
  delayed_.Remove(worker);
  const Iteration progress = entries_.Find(worker)->waiting.pull.progress;
  const auto row = std::ranges::lower_bound(rows_, progress, {}, &Row::progress);
  row->workers.Remove(worker);
  if (!row->workers.empty()) return;
  spare_.push_back(std::move(row->workers));
  rows_.erase(row);
}

std::optional<WaitingPull> WaitingPulls::Take(MemberKey life) {
  if (!Waits(life.worker)) return std::nullopt;
  const WaitingPull taken = entries_.Find(life.worker)->waiting;
  if (taken.pull.from != life) return std::nullopt;
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
  delayed_.Remove(*worker);
  return entries_.Find(*worker)->waiting;
}

std::vector<WaitingPull> WaitingPulls::TakeDelayed() {
  std::vector<WaitingPull> taken;
  while (const std::optional<WaitingPull> next = TakeDelayedBelow(kIterationMax)) taken.push_back(*next);
  return taken;
}

std::vector<WaitingPull> WaitingPulls::TakeUnready() {
  std::vector<WaitingPull> taken;
  while (const std::optional<WorkerId> worker = unready_.TakeLowest()) {
    taken.push_back(entries_.Find(*worker)->waiting);
  }
  return taken;
}

std::vector<PullEvent> WaitingPulls::List() const {
  std::vector<PullEvent> list;
  entries_.ForEach([&](WorkerId worker, const Entry& entry) {
    if (Waits(worker)) list.push_back(entry.waiting.pull);
  });
  return list;
}

}  // namespace leeway
