// EventLoop: waits for all events of one node, on a Poller. One thread at a time runs it.
//
// Events are descriptors, one timer, tasks from other threads, a source of work, and input from shared
// memory. A *turn* is one callback. After each turn the loop runs the turn-end hook, where a transport sends
// all frames of the turn with one system call per connection. Thread rule: Post, Stop, Help, Reclaim and
// IsRunner from anywhere, the rest on the thread that runs the loop (or before it runs): mostly the thread
// that called Run, at times one in Help. The loop outlives everything that is registered with it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/ring.h"
#include "base/spin_budget.h"
#include "leeway/env.h"
#include "transport/loop/loop_lock.h"
#include "transport/loop/poller.h"

namespace leeway {

// Input that reaches the loop without a system call while the loop is awake.
class LoopInput {
 public:
  virtual ~LoopInput() = default;
  // On the loop, as a turn: takes the input that is there. False: there was nothing.
  virtual bool Poll() = 0;
  // The loop is about to sleep: until OnAwake, new input announces itself through a descriptor that the loop
  // watches. False: there is input already, and the loop must not sleep.
  virtual bool MaySleep() = 0;
  virtual void OnAwake() = 0;
};

// Work that other threads hand to the loop.
class LoopSource : public LoopInput {
 public:
  // The calling thread runs the loop from now on, or no longer.
  virtual void OnRunner(bool here) = 0;
  // Any thread: whether others have handed in work that nobody has begun.
  [[nodiscard]] virtual bool HasWork() const = 0;
  // Whether the callers sleep until some of their work is done, so that a core which they share with the
  // loop is free.
  [[nodiscard]] virtual bool CallersSleep() const = 0;
  // Any thread: whether others wait, asleep or not, for something that only the loop can give them.
  [[nodiscard]] virtual bool CallersWait() const = 0;
};

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Until Stop.
  void Run();
  // Any thread that would sleep until the loop has done something: runs the loop itself, in place of the
  // thread in Run, until `finished`, `until` or Stop. False if it may not now (another thread helps, or the
  // loop's own thread is busy): then the caller sleeps.
  bool Help(const std::function<bool()>& finished, TimePoint until);
  // Any thread that waits without running the loop, because Help refused: the loop's own thread shall run it.
  // From the time of this call CallersWait says so.
  void Reclaim() { lock_.Reclaim(); }
  // Whether the calling thread runs the loop now.
  [[nodiscard]] bool IsRunner() const {
    return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  bool RunOnce(Duration wait);
  void Stop();
  void Post(std::function<void()> task);
  // Asked at every pass of the loop; before Run. One at most, which outlives the loop's run.
  void SetSource(LoopSource& source) { source_ = &source; }
  // Input from other processes; polled as the source is. One at most; null removes it.
  void SetInput(LoopInput* input) { input_ = input; }
  // Called after the turns of each pass of the loop, and before it sleeps, with no callback on the stack: the
  // node tells other threads of all finished work together.
  void SetTurnTold(std::function<void()> hook) { turn_told_ = std::move(hook); }
  // Called after every turn, with no callback on the stack.
  void SetTurnEnd(std::function<void()> hook) { turn_end_ = std::move(hook); }
  // Sees to it that a turn ends soon: the current one, or, outside of any, an empty one.
  void EnsureTurnEnd() {
    if (!in_turn_) empty_turn_wanted_ = true;
  }
  // The loop's one timer: calls `fire` at `when`; a new call replaces the one before.
  void WakeAt(TimePoint when, std::function<void()> fire);
  // The time as of the current turn, in which it stands still; outside of any, now.
  [[nodiscard]] TimePoint TurnTime() const;
  [[nodiscard]] static TimePoint Now();

  // Waits on one descriptor. Handlers are set once; each wait is one-shot, and one of a kind may be pending.
  class Watch {
   public:
    // Does not own `fd`, which must stay open as long as the watch lives: closing it before ends the process.
    Watch(EventLoop& loop, int fd, std::function<void()> readable, std::function<void()> writable);
    // Cancels; safe inside its own handlers.
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // Errors and hang-ups count as readable and writable: the system call that follows tells.
    void WaitReadable();
    void WaitWritable();

   private:
    Poller& poller_;
    std::unique_ptr<Poller::Entry> entry_;
  };

 private:
  template <typename Callback>
  void Turn(Callback&& callback);
  void EndTurn();
  void Tell() {
    if (turn_told_) turn_told_();
  }
  // Takes the input of `from`, as a turn. True if it had some.
  bool Poll(LoopInput* from);
  bool RunEmptyTurns();
  bool RunTasks();
  // After a wait.
  bool RunFound();
  // One pass over all sources. `spins`: the caller repeats it, so where input comes without descriptors, the
  // kernel need not be asked each time.
  bool DoSome(bool spins) noexcept;
  [[nodiscard]] bool MaySleep() const;
  // Waits in the kernel until `until`, unless an event is there already, and runs the events found.
  bool Sleep(TimePoint until, SpinBudget& budget);
  // Any thread.
  void Wake();
  // Runs the events that are there. An exception in a callback ends the process, on any thread. If there are
  // no events: polls as long as the budget says, or until `enough`, then sleeps until `until`.
  template <typename Enough>
  void Pass(SpinBudget& budget, const Enough& enough, TimePoint until) noexcept;
  void BeginRunning();
  // Leaves nothing queued behind, also after Stop.
  void EndRunning() noexcept;
  [[nodiscard]] bool stopped() const { return stop_.load(std::memory_order_relaxed); }

  Poller poller_;  // of the thread that holds the lock; outlives what tasks hold
  // Any thread.
  std::mutex tasks_mutex_;
  Ring<std::function<void()>> tasks_;  // under the mutex
  LoopLock lock_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> asleep_{false};      // in a wait, or about to be
  std::atomic<bool> woken_{false};       // there may be tasks
  std::atomic<std::thread::id> runner_;  // holds the lock now
  // Everything below belongs to the thread that holds the lock.
  SpinBudget spin_;        // of the loop's own thread
  SpinBudget guest_spin_;  // of all who help
  std::function<void()> turn_end_;
  std::function<void()> turn_told_;
  LoopSource* source_ = nullptr;
  LoopInput* input_ = nullptr;
  int passes_unasked_ = 0;  // since descriptors were asked
  TimePoint timer_at_{};
  std::function<void()> timer_fire_;  // empty: no timer
  bool in_turn_ = false;
  mutable std::optional<TimePoint> turn_time_;  // of the turn under way, if it has asked
  Duration worked_{0};                          // in the turns since the last sleep or look
  bool in_pass_ = false;                        // of Run or Help, which tell at the end of it
  bool empty_turn_wanted_ = false;
};

}  // namespace leeway
