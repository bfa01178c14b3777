// TicketBook: the outcomes of asynchronous calls, and the threads that wait for them. Thread-safe.
//
// A ticket has a slot in a ring by its number. Its state is one atomic word with the number in it, so
// beginning, finishing and taking a call that went well touch that word and nothing else; errors lie aside. A
// ticket whose slot is needed again before anyone took its outcome moves aside as well. A thread that has to
// sleep says so in the word, and sleeps on it: only the end of that very call wakes it.
//
// Outcomes that nobody asks for are kept up to a limit; beyond it the oldest are forgotten. Calls under way
// never are.
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

  // A call that ends once its Finish has come so many times (one or two).
  [[nodiscard]] Ticket New(int parts = 1);
  // The first error of a call with two parts is its outcome.
  void Finish(Ticket ticket, const Status& outcome);
  // The same, but who waits sleeps on until WakeFinished, so that one who waits for many is not woken for
  // each. Both on one thread at a time, the one that runs the node's loop.
  void FinishQuietly(Ticket ticket, const Status& outcome);
  void WakeFinished();
  // Every ticket without an outcome, now and later, gets `why`.
  void FinishAll(const Status& why);

  // The outcome, if it is there: it is forgotten then. Nothing while the call is under way. kNotFound for 0,
  // unknown and forgotten tickets.
  [[nodiscard]] std::optional<Status> Take(Ticket ticket);

  struct Limits {
    std::chrono::milliseconds warn_after;
    std::chrono::milliseconds give_up_after;
  };
  // Work that a waiting thread can do to speed up the thing it waits for.
  class Helper {
   public:
    virtual ~Helper() = default;
    // Does it itself, until `finished` or `until`. False: not now.
    virtual bool Help(const std::function<bool()>& finished, std::chrono::steady_clock::time_point until) = 0;
    // It waits without (HasWaiter says so): somebody else has to do it.
    virtual void LeaveToOthers() = 0;
  };
  // Waits until Take gives something. After warn_after calls `warn` once; after give_up_after, or when `stop`
  // (asked now and then, on this thread) says so, returns nothing, and the ticket stays.
  [[nodiscard]] std::optional<Status> Wait(Ticket ticket, const Limits& limits,
                                           const std::function<void()>& warn,
                                           const std::function<bool()>& stop = {}, Helper* helper = nullptr);
  // Nobody will ask for this one.
  void Forget(Ticket ticket);
  [[nodiscard]] bool Done(Ticket ticket) const;
  // Whether a thread sleeps until a call has ended that has not: what it runs on is free meanwhile.
  [[nodiscard]] bool HasSleeper() const { return sleepers_.load(std::memory_order_relaxed) > 0; }
  // Whether a thread is in Wait and not in its Helper's Help.
  [[nodiscard]] bool HasWaiter() const { return waiters_.load(std::memory_order_seq_cst) > 0; }

 private:
  using Word = std::uint64_t;  // flags in the low byte, the ticket above
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::atomic<Word>& SlotOf(Ticket ticket) { return slots_[ticket & (slots_.size() - 1)]; }
  [[nodiscard]] const std::atomic<Word>& SlotOf(Ticket ticket) const {
    return slots_[ticket & (slots_.size() - 1)];
  }
  // The call ends, or its first part. Returns the slot of one who sleeps on it.
  std::atomic<Word>* End(Ticket ticket, const Status& outcome);
  void EndAside(Ticket ticket, const Status& outcome);
  // Gives the slot to `ticket` and moves its present ticket aside. False if the slot no longer holds `word`.
  bool Evict(std::atomic<Word>& slot, Word word, Word next);
  [[nodiscard]] std::optional<Status> TakeAside(Ticket ticket);
  // REQUIRES: mutex_.
  [[nodiscard]] Status TakeError(Ticket ticket);
  void KeepAside(Ticket ticket);
  // Until the ticket may have changed; false: not before `until`.
  bool Sleep(Ticket ticket, Clock::time_point until);
  void GiveUpSleep(Ticket ticket);
  // Without a Helper, or without its help.
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
