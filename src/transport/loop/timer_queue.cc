#include "transport/loop/timer_queue.h"

namespace leeway {

TimerId TimerQueue::Add(TimePoint when, std::function<void()> fire) {
  const TimerId id(++last_);
  due_.emplace(std::pair(when, id), std::move(fire));
  when_.emplace(id, when);
  return id;
}

void TimerQueue::Cancel(TimerId id) {
  const auto at = when_.find(id);
  if (at == when_.end()) return;
  due_.erase({at->second, id});
  when_.erase(at);
}

std::optional<TimePoint> TimerQueue::Next() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first.first;
}

std::function<void()> TimerQueue::TakeDue(TimePoint now) {
  if (due_.empty() || due_.begin()->first.first > now) return {};
  auto node = due_.extract(due_.begin());
  when_.erase(node.key().second);
  return std::move(node.mapped());
}

}  // namespace leeway
