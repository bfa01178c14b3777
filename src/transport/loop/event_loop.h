// EventLoop: what waits in this folder waits here, on a Poller, and one thread at a time runs it.
//
// That is descriptors, one timer, tasks from other threads, a source of work, and input from shared memory. A
// *turn* is one callback; after each turn the loop runs the turn-end hook, where a transport sends all that
// was queued during the turn with one system call per connection. Thread rule: Post, Stop, Help, CallHome and
// IsRunner from anywhere, the rest on the thread that runs the loop (or before it runs): mostly the one that
// called Run, and for a while one that helps. The loop outlives everything that is registered with it.
#pragma once

#include <functional>
#include <memory>

#include "leeway/env.h"
#include "transport/loop/poller.h"

namespace leeway {

// What comes to the loop without a system call while it is awake.
class LoopInput {
 public:
  virtual ~LoopInput() = default;
  // On the loop, as a turn: does what is there. False: there was nothing.
  virtual bool Poll() = 0;
  // The loop is about to sleep: from now on what comes announces itself through a descriptor that the loop
  // watches, until OnAwake. False: there is something already, and the loop must not sleep.
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
  // Whether those who hand it work sleep until some of it is done, so that a core which they share with the
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
  // Any thread that would sleep until the loop has done something: runs the loop itself, in place of the one
  // in Run, until `finished`, `until` or Stop. False if it may not now (another one helps, or the loop's own
  // thread is busy): then sleep.
  bool Help(const std::function<bool()>& finished, TimePoint until);
  // Any thread that waits without running the loop, because Help refused: the loop's own thread shall run it.
  // From the time of this call CallersWait says so.
  void CallHome();
  // Whether the calling thread runs the loop now.
  [[nodiscard]] bool IsRunner() const;
  bool RunOnce(Duration wait);
  void Stop();
  void Post(std::function<void()> task);
  // Asked at every pass of the loop; before Run. One at most, which outlives the loop's run.
  void SetSource(LoopSource& source);
  // What comes from other processes; asked as the source is. One at most, null to have none any more.
  void SetInput(LoopInput* input);
  // Called after the turns of each pass of the loop, and before it sleeps, with no callback on the stack:
  // what they finished is told to other threads together.
  void SetTurnTold(std::function<void()> hook);
  // Called after every turn, with no callback on the stack.
  void SetTurnEnd(std::function<void()> hook);
  // Sees to it that a turn ends soon: the current one, or, outside of any, an empty one.
  void EnsureTurnEnd();
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
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leeway
