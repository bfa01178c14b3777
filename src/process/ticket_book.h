// TicketBook: the outcomes of asynchronous calls, and the threads that wait for them. Thread-safe.
//
// A ticket has a slot in a ring by its number. Its state is one atomic word that contains the number, so that
// a successful call touches only that word to begin, finish and be taken; errors lie in a side table. A
// ticket moves to the side table too when its slot is needed again before a thread took its outcome. A thread
// that has to sleep sets a flag in the word and sleeps on it: only the end of that call wakes it.
//
// The book keeps outcomes that no thread asks for up to a limit; beyond it, it forgets the oldest. It never
// forgets calls under way.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/spin_budget.h"
#include "leeway/status.h"
#include "leeway/worker.h"

namespace leeway {

class TicketBook {
 public:
  explicit TicketBook(std::size_t kept_max);

  // A call that ends after `parts` Finish calls (one or two).
  [[nodiscard]] Ticket New(int parts = 1);
  // The first error of a call with two parts is its outcome.
  void Finish(Ticket ticket, const Status& outcome);
  // Finishes a call but leaves its waiting thread asleep until WakeFinished, so that a thread that waits for
  // many calls wakes up once. Thread rule: one thread at a time makes both calls, the one that runs the
  // node's loop.
  void FinishQuietly(Ticket ticket, const Status& outcome);
  void WakeFinished();
  // Every ticket without an outcome, now and later, gets `why`.
  void FinishAll(const Status& why);

  // Returns the outcome, if it is there, and forgets it. nullopt while the call is under way. kNotFound for
  // 0, unknown and forgotten tickets.
  [[nodiscard]] std::optional<Status> Take(Ticket ticket);

  struct Limits {
    std::chrono::milliseconds warn_after;
    std::chrono::milliseconds give_up_after;
  };
  // Work that a waiting thread can do to speed up the thing it waits for.
  class Helper {
   public:
    virtual ~Helper() = default;
    // Does the work itself, until `finished` or `until`. False: not now.
    virtual bool Help(const std::function<bool()>& finished, std::chrono::steady_clock::time_point until) = 0;
    // This thread waits without helping (HasWaiter is true): another thread has to do the work.
    virtual void LeaveToOthers() = 0;
  };
  // Waits until Take returns an outcome. After warn_after it calls `warn` once. After give_up_after, or when
  // `stop` (asked now and then, on this thread) returns true, it returns nullopt and keeps the ticket.
  [[nodiscard]] std::optional<Status> Wait(Ticket ticket, const Limits& limits,
                                           const std::function<void()>& warn,
                                           const std::function<bool()>& stop = {}, Helper* helper = nullptr);
  // No thread will ask for this ticket.
  void Forget(Ticket ticket);
  [[nodiscard]] bool Done(Ticket ticket) const;
  // Returns whether a thread sleeps until a pending call ends: its core is free meanwhile.
  [[nodiscard]] bool HasSleeper() const { return sleepers_.load(std::memory_order_relaxed) > 0; }
  // Returns whether a thread is in Wait and not in its Helper's Help.
  [[nodiscard]] bool HasWaiter() const { return waiters_.load(std::memory_order_seq_cst) > 0; }

 private:
  using Word = std::uint64_t;  // flags in the low byte, the ticket above
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::atomic<Word>& SlotOf(Ticket ticket) { return slots_[ticket & (slots_.size() - 1)]; }
  [[nodiscard]] const std::atomic<Word>& SlotOf(Ticket ticket) const {
    return slots_[ticket & (slots_.size() - 1)];
  }
  // Ends the call, or its first part. Returns the slot if a thread sleeps on it.
  std::atomic<Word>* End(Ticket ticket, const Status& outcome);
  void EndAside(Ticket ticket, const Status& outcome);
  // Gives the slot to `ticket` and moves its present ticket aside. False if the slot no longer holds `word`.
  bool Evict(std::atomic<Word>& slot, Word word, Word next);
  [[nodiscard]] std::optional<Status> TakeAside(Ticket ticket);
  // REQUIRES: mutex_.
  [[nodiscard]] Status TakeError(Ticket ticket);
  void KeepAside(Ticket ticket);
  // Sleeps until the ticket may have changed; false: not before `until`.
  bool Sleep(Ticket ticket, Clock::time_point until);
  void GiveUpSleep(Ticket ticket);
  // Waits without a Helper, or without its help.
  void SpinOrSleep(Ticket ticket, Clock::time_point until, Helper* helper);
  [[nodiscard]] bool SpinFor(Ticket ticket);

  std::vector<std::atomic<Word>> slots_;
  const std::size_t aside_kept_max_;
  std::atomic<Ticket> last_{0};
  std::atomic<int> sleepers_{0};             // words with kSleeper
  std::atomic<int> waiters_{0};              // threads, as HasWaiter says
  std::vector<std::atomic<Word>*> to_wake_;  // of FinishQuietly
  std::atomic<bool> ended_{false};           // FinishAll was called

  std::atomic_flag spinning_;  // one thread at a time learns whether it pays
  SpinBudget spin_;

  mutable std::mutex mutex_;  // everything below
  std::condition_variable aside_changed_;
  std::unordered_map<Ticket, std::uint8_t> aside_;  // flags of tickets without a slot
  std::deque<Ticket> aside_finished_;               // in the order of their ends; may hold some that are gone
  std::unordered_map<Ticket, Status> errors_;       // outcomes that are not ok
  Status all_;                                      // what FinishAll gave
};

}  // namespace leeway
