// EventLoop: waits for all events of one node, on a Poller. One thread runs it.
//
// Events are descriptors, one timer, tasks from other threads, and input from shared memory. A *turn* is one
// callback. After each turn the loop runs the turn-end hook, where a transport sends all frames of the turn
// with one system call per connection. Thread rule: Post, Stop and IsRunner from anywhere, the rest on the
// thread that runs the loop (or before it runs). The loop outlives everything that is registered with it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/ring.h"
#include "leeway/env.h"
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

class EventLoop {
 public:
  EventLoop() = default;
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Until Stop.
  void Run();
  // Whether the calling thread runs the loop now.
  [[nodiscard]] bool IsRunner() const {
    return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  bool RunOnce(Duration wait);
  void Stop();
  void Post(std::function<void()> task);
  // Input from other processes, polled at every pass of the loop. One at most; null removes it.
  void SetInput(LoopInput* input) { input_ = input; }
  // Called after the turns of each pass, and before the loop sleeps: the node wakes threads that wait for
  // what these turns have finished, once for all of them. On the loop, or before Run.
  void SetPassEnd(std::function<void()> hook) { pass_end_ = std::move(hook); }
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
  // Takes the input, as a turn. True if there was some.
  bool PollInput();
  bool RunEmptyTurns();
  bool RunTasks();
  // After a wait.
  bool RunFound();
  // Runs the events that are there. If there was no input and no task, it waits in the kernel until `until`
  // at the most. False if nothing came. An exception in a callback ends the process.
  bool Pass(TimePoint until) noexcept;
  // Asks the kernel, and sleeps if nothing has come without it.
  bool AskDescriptors(bool came, TimePoint until);
  void EndPass() {
    if (pass_end_) pass_end_();
  }
  // Any thread.
  void Wake();
  [[nodiscard]] bool stopped() const { return stop_.load(std::memory_order_relaxed); }

  Poller poller_;  // outlives what tasks hold
  // Any thread.
  std::mutex tasks_mutex_;
  Ring<std::function<void()>> tasks_;  // under the mutex
  std::atomic<bool> stop_{false};
  std::atomic<bool> asleep_{false};  // in a wait, or about to be
  std::atomic<bool> woken_{false};   // there may be tasks
  std::atomic<std::thread::id> runner_;
  // The loop's thread.
  std::function<void()> turn_end_;
  std::function<void()> pass_end_;
  int passes_unasked_ = 0;  // since descriptors were asked
  LoopInput* input_ = nullptr;
  TimePoint timer_at_{};
  std::function<void()> timer_fire_;  // empty: no timer
  bool in_turn_ = false;
  mutable std::optional<TimePoint> turn_time_;  // of the turn under way, if it has asked
  bool empty_turn_wanted_ = false;
};

}  // namespace leeway
