#include "process/ticket_book.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {
namespace {

// How long a person who presses Ctrl-C may have to wait.
constexpr std::chrono::milliseconds kStopPoll{100};

}  // namespace

Ticket TicketBook::New() {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[++last_];
  if (!all_.ok()) {
    entry.outcome = all_;
    finished_.push_back(last_);
  }
  return last_;
}

void TicketBook::Finish(Ticket ticket, const Status& outcome) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(ticket);
  if (found == entries_.end() || found->second.outcome) return;
  if (found->second.forgotten) {
    entries_.erase(found);
    return;
  }
  found->second.outcome = outcome;
  finished_.push_back(ticket);
  while (finished_.size() > kept_max_) {
    entries_.erase(finished_.front());
    finished_.pop_front();
  }
  if (waiting_ > 0) changed_.notify_all();
}

void TicketBook::FinishAll(const Status& why) {
  const std::lock_guard lock(mutex_);
  if (!all_.ok()) return;
  all_ = why;
  for (auto& [ticket, entry] : entries_) {
    if (entry.outcome) continue;
    entry.outcome = why;
    finished_.push_back(ticket);
  }
  changed_.notify_all();
}

std::optional<Status> TicketBook::Wait(Ticket ticket, const Limits& limits, const std::function<void()>& warn,
                                       const std::function<bool()>& stop) {
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + limits.give_up_after;
  const auto warning = std::min(begin + limits.warn_after, end);
  std::unique_lock lock(mutex_);
  bool warned = false;
  while (true) {
    const auto found = entries_.find(ticket);
    if (found == entries_.end() || found->second.forgotten) {
      return NotFound("ticket {} names no call, or its outcome was taken or forgotten", ticket);
    }
    if (found->second.outcome) {
      Status outcome = *std::move(found->second.outcome);
      entries_.erase(found);
      return outcome;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return std::nullopt;
    if (!warned && now >= warning) {
      warned = true;
      lock.unlock();
      warn();
      lock.lock();
      continue;
    }
    const auto next = warned ? end : warning;
    ++waiting_;
    const std::cv_status woken = changed_.wait_until(lock, stop ? std::min(next, now + kStopPoll) : next);
    --waiting_;
    if (stop && woken == std::cv_status::timeout) {
      lock.unlock();
      if (stop()) return std::nullopt;
      lock.lock();
    }
  }
}

void TicketBook::Forget(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(ticket);
  if (found == entries_.end()) return;
  if (found->second.outcome) {
    entries_.erase(found);
  } else {
    found->second.forgotten = true;
  }
}

bool TicketBook::Done(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(ticket);
  return found == entries_.end() || found->second.outcome.has_value();
}

}  // namespace leeway
