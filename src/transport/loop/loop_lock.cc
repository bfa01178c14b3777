#include "transport/loop/loop_lock.h"

#include <algorithm>

#include "transport/system/futex.h"

namespace leeway {
namespace {

// The own thread takes back a lock that stays free for so long.
constexpr std::chrono::microseconds kIdle{100};
// A guest wakes the own thread when it releases a lock that was reclaimed.
constexpr std::chrono::hours kUntilReleased{1};
// After so many guests of one lending, without a call that was delayed, lending pays after all.
constexpr std::uint32_t kVisitsThatPay = 64;

}  // namespace

void LoopLock::Set(State state) {
  word_.store(state, std::memory_order_release);
  FutexWake(word_);
}

bool LoopLock::TakeBack() {
  std::uint32_t lent = kLent;
  return word_.compare_exchange_strong(lent, kOwn, std::memory_order_acq_rel);
}

void LoopLock::Lend(const std::function<bool()>& has_calls) {
  const std::uint32_t first_visit = visits_.load(std::memory_order_relaxed);
  std::uint32_t wanted = kWanted;
  if (!word_.compare_exchange_strong(wanted, kLent, std::memory_order_acq_rel)) return;
  FutexWake(word_);
  std::uint32_t seen = first_visit;
  Nanoseconds park = options_.park_min;
  while (true) {
    const std::uint32_t state = word_.load(std::memory_order_acquire);
    if (state != kLent && state != kGuest && state != kReclaimed) break;
    if (FutexSleep(word_, state, state == kReclaimed ? kUntilReleased : park)) continue;
    const std::uint32_t visits = visits_.load(std::memory_order_relaxed);
    if (word_.load(std::memory_order_acquire) == kLent) {
      // The last guest may be about to come back.
      (void)FutexSleep(word_, kLent, kIdle);
      if (visits_.load(std::memory_order_relaxed) == visits && TakeBack()) {
        if (has_calls()) {
          next_refusals_ = std::min(next_refusals_ * 2 + 1, options_.refusals_max);
          refusals_.store(next_refusals_, std::memory_order_relaxed);
        }
        break;
      }
    } else if (visits == seen) {
      Reclaim();  // the same guest, for so long: it wakes this thread when it releases the lock
    }
    seen = visits;
    park = std::min(park * 2, options_.park_max);
  }
  if (visits_.load(std::memory_order_relaxed) - first_visit >= kVisitsThatPay &&
      refusals_.load(std::memory_order_relaxed) == 0) {
    next_refusals_ = 0;
  }
}

bool LoopLock::Acquire(const std::function<void()>& wake) {
  std::uint32_t state = word_.load(std::memory_order_relaxed);
  if (state == kOwn) {
    if (const std::uint32_t left = refusals_.load(std::memory_order_relaxed); left > 0) {
      refusals_.store(left - 1, std::memory_order_relaxed);  // two at once count as one, which does no harm
      return false;
    }
    if (!word_.compare_exchange_strong(state, kWanted, std::memory_order_acq_rel)) return false;
    wake();
    while (word_.load(std::memory_order_acquire) == kWanted) {
      if (FutexSleep(word_, kWanted, options_.acquire_max)) continue;
      // The own thread is busy for long: the guest sleeps until its outcome is there.
      state = kWanted;
      if (word_.compare_exchange_strong(state, kOwn, std::memory_order_acq_rel)) return false;
    }
    state = kLent;
  }
  if (state != kLent || !word_.compare_exchange_strong(state, kGuest, std::memory_order_acq_rel))
    return false;
  visits_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void LoopLock::Release(bool to_own, bool crowd) {
  if (crowd) refusals_.store(options_.crowd_refusals, std::memory_order_relaxed);
  std::uint32_t guest = kGuest;
  if (!to_own && !crowd && word_.compare_exchange_strong(guest, kLent, std::memory_order_acq_rel)) return;
  Set(kOwn);
}

void LoopLock::Reclaim() {
  std::uint32_t state = word_.load(std::memory_order_acquire);
  while (true) {
    if (state == kLent) {
      if (!word_.compare_exchange_weak(state, kOwn, std::memory_order_acq_rel)) continue;
      FutexWake(word_);
      return;
    }
    if (state != kGuest) return;
    if (word_.compare_exchange_weak(state, kReclaimed, std::memory_order_acq_rel)) return;
  }
}

}  // namespace leeway
