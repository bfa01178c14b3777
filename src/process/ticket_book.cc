#include "process/ticket_book.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

// The longest wait after Ctrl-C.
constexpr std::chrono::milliseconds kStopPoll{100};

Status NotATicket(Ticket ticket) {
  return NotFound("ticket {} names no call, or its outcome was taken or forgotten", ticket);
}

}  // namespace

Ticket TicketBook::New() {
  const std::lock_guard lock(mutex_);
  const Ticket ticket = ++last_;
  Call& call = calls_[ticket];
  if (!all_.ok()) End(ticket, call, all_);
  return ticket;
}

void TicketBook::Finish(Ticket ticket, const Status& outcome) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(ticket);
  if (found != calls_.end() && !found->second.done) End(ticket, found->second, outcome);
}

void TicketBook::End(Ticket ticket, Call& call, const Status& outcome) {
  call.done = true;
  call.outcome = outcome;
  // Only a thread that waits for this very call is woken: others would look in vain.
  awaited_ |= call.waiting > 0;
  if (call.forgotten) {
    calls_.erase(ticket);
    return;
  }
  call.kept = kept_.insert(kept_.end(), ticket);
  // At the end every call under way gets its outcome, whatever their number.
  for (auto oldest = kept_.begin(); kept_.size() > kept_max_ && all_.ok() && oldest != kept_.end();) {
    const auto found = calls_.find(*oldest);
    if (found->second.waiting > 0) {
      ++oldest;
    } else {
      calls_.erase(found);
      oldest = kept_.erase(oldest);
    }
  }
}

void TicketBook::WakeFinished() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(awaited_, false)) return;
  }
  done_.notify_all();
}

void TicketBook::FinishAll(const Status& why) {
  const std::lock_guard lock(mutex_);
  if (!all_.ok()) return;
  all_ = why;
  std::vector<Ticket> open;
  for (const auto& [ticket, call] : calls_) {
    if (!call.done) open.push_back(ticket);
  }
  for (const Ticket ticket : open) End(ticket, calls_.at(ticket), why);
  done_.notify_all();
}

std::optional<Status> TicketBook::TakeNow(Ticket ticket) {
  const auto found = calls_.find(ticket);
  if (found == calls_.end() || found->second.forgotten) return NotATicket(ticket);
  if (!found->second.done) return std::nullopt;
  Status outcome = std::move(found->second.outcome);
  kept_.erase(found->second.kept);
  calls_.erase(found);
  return outcome;
}

std::optional<Status> TicketBook::Take(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  return TakeNow(ticket);
}

std::optional<Status> TicketBook::TakeBy(Ticket ticket, Clock::time_point until) {
  std::unique_lock lock(mutex_);
  (void)done_.wait_until(lock, until, [&] { return IsDone(ticket); });
  return TakeNow(ticket);
}

void TicketBook::AddWaiting(Ticket ticket, int threads) {
  const std::lock_guard lock(mutex_);
  // Another thread may have taken it.
  if (const auto found = calls_.find(ticket); found != calls_.end()) found->second.waiting += threads;
}

std::optional<Status> TicketBook::Wait(Ticket ticket, const Limits& limits, const std::function<void()>& warn,
                                       const std::function<bool()>& stop) {
  if (std::optional<Status> outcome = Take(ticket)) return outcome;
  AddWaiting(ticket, 1);
  const auto begin = Clock::now();
  const auto end = begin + limits.give_up_after;
  const auto warning = std::min(begin + limits.warn_after, end);
  auto next_stop = begin + kStopPoll;
  bool warned = false;
  std::optional<Status> outcome;
  for (auto now = begin; now < end; now = Clock::now()) {
    if (!warned && now >= warning) {
      warned = true;
      warn();
    }
    const auto until = std::min(warned ? end : warning, stop ? next_stop : end);
    if ((outcome = TakeBy(ticket, until))) break;
    if (!stop || Clock::now() < next_stop) continue;
    if (stop()) break;
    next_stop = Clock::now() + kStopPoll;
  }
  AddWaiting(ticket, -1);
  return outcome;
}

void TicketBook::Forget(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(ticket);
  if (found == calls_.end()) return;
  if (found->second.done) {
    (void)TakeNow(ticket);
  } else {
    found->second.forgotten = true;
  }
}

void TicketBook::Drop(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  (void)TakeNow(ticket);  // the book may have ended, and the call with it
  calls_.erase(ticket);
}

bool TicketBook::Done(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return IsDone(ticket);
}

bool TicketBook::IsDone(Ticket ticket) const {
  const auto found = calls_.find(ticket);
  return found == calls_.end() || found->second.done;
}

}  // namespace leeway
