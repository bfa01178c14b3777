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
  while (kept_.size() > kept_max_ && all_.ok()) {
    calls_.erase(kept_.front());
    kept_.pop_front();
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
  if (const auto found = calls_.find(ticket); found != calls_.end() && !found->second.done) {
    ++found->second.waiting;
    (void)done_.wait_until(lock, until, [&] { return IsDone(ticket); });
    // Another thread may have taken it meanwhile.
    if (const auto still = calls_.find(ticket); still != calls_.end()) --still->second.waiting;
  }
  return TakeNow(ticket);
}

std::optional<Status> TicketBook::Wait(Ticket ticket, const Limits& limits, const std::function<void()>& warn,
                                       const std::function<bool()>& stop) {
  if (std::optional<Status> outcome = Take(ticket)) return outcome;
  const auto begin = Clock::now();
  const auto end = begin + limits.give_up_after;
  const auto warning = std::min(begin + limits.warn_after, end);
  auto next_stop = begin + kStopPoll;
  bool warned = false;
  for (auto now = begin; now < end; now = Clock::now()) {
    if (!warned && now >= warning) {
      warned = true;
      warn();
    }
    const auto until = std::min(warned ? end : warning, stop ? next_stop : end);
    if (std::optional<Status> outcome = TakeBy(ticket, until)) return outcome;
    if (!stop || Clock::now() < next_stop) continue;
    if (stop()) break;
    next_stop = Clock::now() + kStopPoll;
  }
  return std::nullopt;
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

bool TicketBook::Done(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return IsDone(ticket);
}

bool TicketBook::IsDone(Ticket ticket) const {
  const auto found = calls_.find(ticket);
  return found == calls_.end() || found->second.done;
}

}  // namespace leeway
