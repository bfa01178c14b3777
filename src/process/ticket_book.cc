#include "process/ticket_book.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/errors.h"
#include "transport/system/futex.h"
#include "transport/system/system_spin_world.h"

namespace leeway {
namespace {

// The longest wait after Ctrl-C.
constexpr std::chrono::milliseconds kStopPoll{100};
// Tickets with a slot: enough for a window of calls under way, and no more than a core's first cache holds.
constexpr std::size_t kSlotsMax = 4096;

constexpr int kFlagBits = 8;
constexpr std::uint64_t kFlags = (1U << kFlagBits) - 1;
constexpr std::uint64_t kPending = 1;    // no outcome yet
constexpr std::uint64_t kDone = 2;       // an outcome that no thread has taken; neither of the two: free
constexpr std::uint64_t kForgotten = 4;  // with kPending: no thread will ask
constexpr std::uint64_t kTwoParts = 8;   // with kPending: one more part has to end before the last
constexpr std::uint64_t kFailed = 16;    // errors_ has its outcome
constexpr std::uint64_t kSleeper = 32;   // with kPending: somebody sleeps on the word

constexpr std::uint64_t WordOf(Ticket ticket, std::uint64_t flags) { return ticket << kFlagBits | flags; }
constexpr Ticket TicketOf(std::uint64_t word) { return word >> kFlagBits; }

// At most half of the kept outcomes: the rest is for outcomes that arrive after another ticket took their
// slot.
std::size_t SlotsFor(std::size_t kept_max) {
  return std::bit_floor(std::clamp<std::size_t>(kept_max / 2, 1, kSlotsMax));
}

Status NotATicket(Ticket ticket) {
  return NotFound("ticket {} names no call, or its outcome was taken or forgotten", ticket);
}

}  // namespace

TicketBook::TicketBook(std::size_t kept_max)
    : slots_(SlotsFor(kept_max)),
      aside_kept_max_(std::max<std::size_t>(kept_max, slots_.size() + 1) - slots_.size()),
      spin_(SystemSpinWorld()) {
  // A thread that waits here waits for another thread of this process, which is on the same core if there is
  // only one.
  spin_.SetShared(true);
}

Ticket TicketBook::New(int parts) {
  const Ticket ticket = last_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t flags = kPending | (parts > 1 ? kTwoParts : 0);
  const Word mine = WordOf(ticket, flags);
  std::atomic<Word>& slot = SlotOf(ticket);
  Word word = slot.load(std::memory_order_relaxed);
  while (true) {
    if (TicketOf(word) > ticket) {
      // A whole round of the ring overtook this thread between two instructions.
      const std::lock_guard lock(mutex_);
      aside_.emplace(ticket, static_cast<std::uint8_t>(flags));
      break;
    }
    const bool free = (word & (kPending | kDone)) == 0;
    if (free ? slot.compare_exchange_weak(word, mine, std::memory_order_seq_cst) : Evict(slot, word, mine)) {
      break;
    }
    word = slot.load(std::memory_order_relaxed);
  }
  // Sequentially consistent with FinishAll: either FinishAll sees this ticket, or this thread sees FinishAll.
  if (ended_.load(std::memory_order_seq_cst)) {
    Status why;
    {
      const std::lock_guard lock(mutex_);
      why = all_;
    }
    for (int i = 0; i < parts; ++i) Finish(ticket, why);
  }
  return ticket;
}

bool TicketBook::Evict(std::atomic<Word>& slot, Word word, Word next) {
  const Ticket evicted = TicketOf(word);
  {
    // A thread that misses the ticket in its slot looks at the side table next, and waits for this lock.
    const std::lock_guard lock(mutex_);
    if (!slot.compare_exchange_strong(word, next, std::memory_order_seq_cst)) return false;
    const auto flags = static_cast<std::uint8_t>(word & kFlags & ~kSleeper);
    aside_.emplace(evicted, flags);
    if ((flags & kDone) != 0) KeepAside(evicted);
  }
  if ((word & kSleeper) != 0) {
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    FutexWake(slot);
  }
  return true;
}

void TicketBook::KeepAside(Ticket ticket) {
  aside_finished_.push_back(ticket);
  if (!all_.ok()) return;  // at the end every call under way gets its outcome, whatever their number
  while (aside_finished_.size() > aside_kept_max_) {
    const Ticket oldest = aside_finished_.front();
    aside_finished_.pop_front();
    if (aside_.erase(oldest) > 0) errors_.erase(oldest);
  }
}

void TicketBook::Finish(Ticket ticket, const Status& outcome) {
  if (std::atomic<Word>* slept_on = End(ticket, outcome)) FutexWake(*slept_on);
}

void TicketBook::FinishQuietly(Ticket ticket, const Status& outcome) {
  if (std::atomic<Word>* slept_on = End(ticket, outcome)) to_wake_.push_back(slept_on);
}

void TicketBook::WakeFinished() {
  if (to_wake_.empty()) return;
  for (std::atomic<Word>* slot : to_wake_) FutexWake(*slot);
  to_wake_.clear();
}

std::atomic<TicketBook::Word>* TicketBook::End(Ticket ticket, const Status& outcome) {
  std::atomic<Word>& slot = SlotOf(ticket);
  Word word = slot.load(std::memory_order_relaxed);
  bool error_kept = false;
  while (true) {
    if (TicketOf(word) != ticket) {
      EndAside(ticket, outcome);
      return nullptr;
    }
    if ((word & kPending) == 0) return nullptr;
    if (!outcome.ok() && !error_kept) {
      // Stored before any thread can see that the call has ended.
      const std::lock_guard lock(mutex_);
      errors_.try_emplace(ticket, outcome);
      error_kept = true;
    }
    Word next = word | (outcome.ok() ? 0 : kFailed);
    if ((word & kTwoParts) != 0) {
      next &= ~kTwoParts;
    } else if ((word & kForgotten) != 0) {
      next = WordOf(ticket, 0);
    } else {
      next = (next & ~(kPending | kSleeper)) | kDone;
    }
    if (!slot.compare_exchange_weak(word, next, std::memory_order_acq_rel)) continue;
    if ((next & (kPending | kDone)) == 0 && ((word | next) & kFailed || error_kept)) {
      const std::lock_guard lock(mutex_);
      errors_.erase(ticket);
    }
    if (((word & ~next) & kSleeper) == 0) return nullptr;
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return (next & kDone) != 0 ? &slot : nullptr;
  }
}

void TicketBook::EndAside(Ticket ticket, const Status& outcome) {
  const std::lock_guard lock(mutex_);
  const auto found = aside_.find(ticket);
  if (found == aside_.end() || (found->second & kPending) == 0) return;
  std::uint8_t& flags = found->second;
  if (!outcome.ok()) {
    errors_.try_emplace(ticket, outcome);
    flags |= kFailed;
  }
  if ((flags & kTwoParts) != 0) {
    flags &= static_cast<std::uint8_t>(~kTwoParts);
  } else if ((flags & kForgotten) != 0) {
    aside_.erase(found);
    errors_.erase(ticket);
  } else {
    flags = static_cast<std::uint8_t>((flags & ~kPending) | kDone);
    KeepAside(ticket);
    aside_changed_.notify_all();
  }
}

void TicketBook::FinishAll(const Status& why) {
  std::vector<Ticket> open;
  {
    const std::lock_guard lock(mutex_);
    if (!all_.ok()) return;
    all_ = why;
    ended_.store(true, std::memory_order_seq_cst);
    for (const auto& [ticket, flags] : aside_) {
      if ((flags & kPending) != 0) open.push_back(ticket);
    }
    // Under the lock: a ticket that moves aside meanwhile would be in neither place.
    for (std::atomic<Word>& slot : slots_) {
      const Word word = slot.load(std::memory_order_seq_cst);
      if ((word & kPending) != 0) open.push_back(TicketOf(word));
    }
  }
  for (const Ticket ticket : open) {
    for (int part = 0; part < 2; ++part)
      Finish(ticket, why);  // one of two parts, or one that is gone already
  }
}

Status TicketBook::TakeError(Ticket ticket) {
  const auto found = errors_.find(ticket);
  if (found == errors_.end()) return NotATicket(ticket);
  Status error = std::move(found->second);
  errors_.erase(found);
  return error;
}

std::optional<Status> TicketBook::Take(Ticket ticket) {
  std::atomic<Word>& slot = SlotOf(ticket);
  Word word = slot.load(std::memory_order_acquire);
  while (true) {
    if (TicketOf(word) != ticket) return TakeAside(ticket);
    if ((word & kForgotten) != 0 || (word & (kPending | kDone)) == 0) return NotATicket(ticket);
    if ((word & kPending) != 0) return std::nullopt;
    if (!slot.compare_exchange_weak(word, WordOf(ticket, 0), std::memory_order_acq_rel)) continue;
    if ((word & kFailed) == 0) return Status::Ok();
    const std::lock_guard lock(mutex_);
    return TakeError(ticket);
  }
}

std::optional<Status> TicketBook::TakeAside(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = aside_.find(ticket);
  if (found == aside_.end() || (found->second & kForgotten) != 0) return NotATicket(ticket);
  const std::uint8_t flags = found->second;
  if ((flags & kPending) != 0) return std::nullopt;
  aside_.erase(found);
  return (flags & kFailed) != 0 ? TakeError(ticket) : Status::Ok();
}

bool TicketBook::SpinFor(Ticket ticket) {
  if (spinning_.test_and_set(std::memory_order_acquire)) return false;
  const std::atomic<Word>& slot = SlotOf(ticket);
  const bool found = spin_.Spin([&] {
    const Word word = slot.load(std::memory_order_relaxed);
    return TicketOf(word) != ticket || (word & kPending) == 0;
  });
  spinning_.clear(std::memory_order_release);
  return found;
}

bool TicketBook::Sleep(Ticket ticket, Clock::time_point until) {
  std::atomic<Word>& slot = SlotOf(ticket);
  Word word = slot.load(std::memory_order_acquire);
  if (TicketOf(word) != ticket) {
    std::unique_lock lock(mutex_);
    return aside_changed_.wait_until(lock, until, [&] {
      const auto found = aside_.find(ticket);
      return found == aside_.end() || (found->second & kPending) == 0;
    });
  }
  if ((word & kPending) == 0) return true;
  const Word asleep = word | kSleeper;
  if (word != asleep) {
    if (!slot.compare_exchange_strong(word, asleep, std::memory_order_acq_rel)) return true;
    sleepers_.fetch_add(1, std::memory_order_relaxed);
  }
  const Clock::duration left = until - Clock::now();
  return left > Clock::duration::zero() && FutexSleep(slot, asleep, left);
}

std::optional<Status> TicketBook::Wait(Ticket ticket, const Limits& limits, const std::function<void()>& warn,
                                       const std::function<bool()>& stop, Helper* helper) {
  if (std::optional<Status> outcome = Take(ticket)) return outcome;
  const std::function<bool()> finished = [this, ticket] { return Done(ticket); };
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
    if (helper == nullptr || !helper->Help(finished, until)) SpinOrSleep(ticket, until, helper);
    if (std::optional<Status> outcome = Take(ticket)) return outcome;
    if (!stop || Clock::now() < next_stop) continue;
    if (stop()) break;
    next_stop = Clock::now() + kStopPoll;
  }
  return std::nullopt;
}

void TicketBook::SpinOrSleep(Ticket ticket, Clock::time_point until, Helper* helper) {
  // Counts before it tells: a thread that leaves the loop meanwhile sees the count, or is seen by this
  // thread.
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  if (helper != nullptr) helper->LeaveToOthers();
  if (!SpinFor(ticket) && !Done(ticket)) {
    (void)Sleep(ticket, until);
    GiveUpSleep(ticket);
  }
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
}

// Tells the book that no thread sleeps on the ticket any more, though the call continues.
void TicketBook::GiveUpSleep(Ticket ticket) {
  std::atomic<Word>& slot = SlotOf(ticket);
  Word word = slot.load(std::memory_order_acquire);
  while (TicketOf(word) == ticket && (word & kSleeper) != 0) {
    if (!slot.compare_exchange_weak(word, word & ~kSleeper, std::memory_order_acq_rel)) continue;
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    // Another thread may sleep on the same word: it looks again, and sets the flag anew.
    FutexWake(slot);
    return;
  }
}

void TicketBook::Forget(Ticket ticket) {
  std::atomic<Word>& slot = SlotOf(ticket);
  Word word = slot.load(std::memory_order_acquire);
  while (TicketOf(word) == ticket) {
    if ((word & kDone) != 0) {
      (void)Take(ticket);
      return;
    }
    if ((word & kPending) == 0) return;
    if (slot.compare_exchange_weak(word, word | kForgotten, std::memory_order_acq_rel)) return;
  }
  const std::lock_guard lock(mutex_);
  const auto found = aside_.find(ticket);
  if (found == aside_.end()) return;
  if ((found->second & kDone) == 0) {
    found->second |= kForgotten;
  } else {
    aside_.erase(found);
    errors_.erase(ticket);
  }
}

bool TicketBook::Done(Ticket ticket) const {
  const Word word = SlotOf(ticket).load(std::memory_order_acquire);
  if (TicketOf(word) == ticket) return (word & kPending) == 0;
  const std::lock_guard lock(mutex_);
  const auto found = aside_.find(ticket);
  return found == aside_.end() || (found->second & kPending) == 0;
}

}  // namespace leeway
