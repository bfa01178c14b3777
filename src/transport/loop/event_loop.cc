#include "transport/loop/event_loop.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/ring.h"
#include "base/spin_budget.h"
#include "transport/loop/loop_seat.h"
#include "transport/system/system_spin_world.h"

namespace leeway {
namespace {

// A pass that finds nothing is some 50 ns, asking the kernel some 400.
constexpr int kPassesPerAsking = 16;
// One that finds something may take long.
constexpr int kWeightOfAFind = 4;

}  // namespace

class EventLoop::Impl {
 public:
  Impl() : spin(SystemSpinWorld()), guest_spin(SystemSpinWorld()) {}
  ~Impl() {
    // One by one, while all else is there: what a task holds may post when it is let go.
    while (!tasks.empty()) (void)tasks.pop_front();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  template <typename Callback>
  void Turn(Callback&& callback) {
    in_turn = true;
    callback();
    EndTurn();
  }
  void EndTurn() {
    in_turn = false;
    if (turn_end) turn_end();
    // From where it first asked for the time; a turn that never did is as good as none for the spin.
    if (turn_time) worked += Now() - *std::exchange(turn_time, std::nullopt);
    if (!in_pass) Tell();
  }
  // Read once in a turn: the clock is among the dearer things that a small message meets.
  TimePoint TurnTime() {
    if (!turn_time && in_turn) turn_time = Now();
    return turn_time ? *turn_time : Now();
  }

  void Tell() {
    if (turn_told) turn_told();
  }

  // What it has, as a turn. True if it had something.
  bool Poll(LoopInput* from) {
    if (from == nullptr) return false;
    in_turn = true;
    const bool any = from->Poll();
    if (any) {
      EndTurn();
    } else {
      in_turn = false;
      turn_time.reset();
    }
    return any;
  }

  bool RunEmptyTurns() {
    bool any = false;
    while (std::exchange(empty_turn_wanted, false)) {
      any = true;
      Turn([] {});
    }
    return any;
  }

  bool RunTasks() {
    bool any = RunEmptyTurns();
    // Looked at before it is written to: a spin comes by here with every look.
    if (!woken.load() || !woken.exchange(false)) return any;
    // Those that are there now: what they post comes after descriptors have had their turn.
    std::unique_lock lock(tasks_mutex);
    for (std::size_t left = tasks.size(); left > 0 && !stopped(); --left) {
      {
        const std::function<void()> task = tasks.pop_front();
        lock.unlock();
        any = true;
        Turn(task);
      }  // what it holds is let go without the lock
      lock.lock();
    }
    return any;
  }

  // After a wait.
  bool RunFound() {
    bool any = poller.Dispatch([this](const std::function<void()>& handler) {
      if (!stopped()) Turn(handler);
    });
    if (poller.TakeTimeFound() && timer_fire && !stopped()) {
      if (timer_at > Now()) {
        poller.WakeBy(timer_at);
      } else {
        any = true;
        Turn(std::exchange(timer_fire, nullptr));
      }
    }
    return any;
  }

  // `spins`: again and again, so where most comes without descriptors these need not be asked each time.
  bool DoSome(bool spins) noexcept {
    bool any = Poll(source);
    any |= Poll(input);
    any |= RunTasks();
    passes_unasked += any ? kWeightOfAFind : 1;
    if (spins && input != nullptr && passes_unasked < kPassesPerAsking) return any;
    passes_unasked = 0;
    poller.Wait(/*sleep=*/false);
    any |= RunFound();
    return any;
  }

  bool MaySleep() const {
    if (source != nullptr && !source->MaySleep()) return false;
    if (input == nullptr || input->MaySleep()) return true;
    if (source != nullptr) source->OnAwake();
    return false;
  }

  // Waits in the kernel until `until`, unless there is something already, and does what it has found.
  bool Sleep(TimePoint until, SpinBudget& budget) {
    const bool may_sleep = MaySleep();
    // Store and load here, in Stop and in Wake are in one total order: either this sees what they have to say
    // or they see that this sleeps.
    asleep.store(true);
    const bool sleep = may_sleep && !woken.load() && !stop.load() && !empty_turn_wanted;
    // Here, and not before the looks of a spin, which may have found an earlier time and forgotten it.
    if (sleep && until != TimePoint::max()) poller.WakeBy(until);
    poller.Wait(sleep);
    asleep.store(false);
    if (source != nullptr && may_sleep) source->OnAwake();
    if (input != nullptr && may_sleep) input->OnAwake();
    worked = Duration::zero();
    bool any = RunTasks();
    any |= RunFound();
    if (any) budget.NoteWork(worked.count());
    return any;
  }

  // Any thread.
  void Wake() {
    woken.store(true);
    if (asleep.exchange(false)) poller.Wake();
  }

  // Does what is there. What throws in a callback ends the process, on whatever thread. If there is nothing:
  // looks again as long as the budget says, or until `enough`, then sleeps until `until` and does what came.
  template <typename Enough>
  void Pass(SpinBudget& budget, const Enough& enough, TimePoint until) noexcept {
    if (Poll(source)) Tell();
    // A wake-up across cores costs more than anything else in a small message.
    const auto look = [&] {
      worked = Duration::zero();
      if (!DoSome(/*spins=*/true)) return enough() || stopped();
      budget.NoteWork(worked.count());
      return true;
    };
    // Input has come without a sleep, so it is looked for before one, also where no spin pays. It may be what
    // the caller waits for, or followed by more: then the pass is over, and descriptors are asked by and by.
    if (!(input != nullptr && look()) && !budget.Spin(look)) Sleep(until, budget);
    Tell();  // not before the spin's end: whoever is told may take this core at once
  }

  void SitDown() {
    runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    in_pass = true;
    if (source != nullptr) source->OnRunner(true);
  }
  // Leaves nothing queued behind, also after Stop.
  void StandUp() noexcept {
    do {
      RunEmptyTurns();
      Tell();
    } while (empty_turn_wanted);
    in_pass = false;
    if (source != nullptr) source->OnRunner(false);
    runner.store(std::thread::id(), std::memory_order_relaxed);
  }

  [[nodiscard]] bool stopped() const { return stop.load(std::memory_order_relaxed); }

  Poller poller;  // of the thread in the seat; outlives what tasks hold
  // Any thread.
  std::mutex tasks_mutex;
  Ring<std::function<void()>> tasks;  // under the mutex
  LoopSeat seat;
  std::atomic<bool> stop{false};
  std::atomic<bool> asleep{false};      // in a wait, or about to be
  std::atomic<bool> woken{false};       // there may be tasks
  std::atomic<std::thread::id> runner;  // in the seat now
  // Everything below belongs to the thread in the seat.
  SpinBudget spin;        // of the loop's own thread
  SpinBudget guest_spin;  // of all who help
  std::function<void()> turn_end;
  std::function<void()> turn_told;
  LoopSource* source = nullptr;
  LoopInput* input = nullptr;
  int passes_unasked = 0;  // since descriptors were asked
  TimePoint timer_at{};
  std::function<void()> timer_fire;  // empty: no timer
  bool in_turn = false;
  std::optional<TimePoint> turn_time;  // of the turn under way, if it has asked
  Duration worked{0};                  // in the turns since the last sleep or look
  bool in_pass = false;                // of Run or Help, which tell at the end of it
  bool empty_turn_wanted = false;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  Impl& impl = *impl_;
  impl.SitDown();
  while (!impl.stopped()) {
    if (impl.seat.wanted()) {
      impl.StandUp();
      impl.seat.Lend([&impl] { return impl.source != nullptr && impl.source->HasWork(); });
      impl.SitDown();
      continue;
    }
    // A loop with a source works for a thread of its own process. If there is only one core, that is theirs
    // unless it sleeps.
    impl.spin.SetShared(impl.source != nullptr && !impl.source->CallersSleep());
    impl.Pass(
        impl.spin, [&impl] { return impl.seat.wanted(); }, TimePoint::max());
  }
  impl.StandUp();
  impl.seat.Close();
}

bool EventLoop::Help(const std::function<bool()>& finished, TimePoint until) {
  Impl& impl = *impl_;
  if (IsRunner() || !impl.seat.Enter([&impl] { impl.Wake(); })) return false;
  impl.SitDown();
  if (finished()) (void)impl.DoSome(/*spins=*/false);  // what was posted while it asked for the seat
  bool late = false;
  while (!late && !finished() && !impl.stopped()) {
    impl.Pass(impl.guest_spin, finished, until);
    late = Now() >= until;
  }
  const bool work_left = impl.source != nullptr && impl.source->HasWork();
  impl.StandUp();
  const bool crowd = impl.source != nullptr && impl.source->CallersWait();
  impl.seat.Leave(/*to_own=*/work_left || impl.stopped(), crowd);
  return true;
}

void EventLoop::CallHome() { impl_->seat.CallHome(); }

bool EventLoop::IsRunner() const {
  return impl_->runner.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

bool EventLoop::RunOnce(Duration wait) {
  Impl& impl = *impl_;
  bool any = false;
  const TimePoint until = Now() + wait;
  while (true) {
    while (!impl.stopped() && impl.DoSome(/*spins=*/false)) any = true;
    if (any || impl.stopped() || wait <= Duration::zero() || Now() >= until) return any;
    any = impl.Sleep(until, impl.spin);
  }
}

void EventLoop::Stop() {
  impl_->stop.store(true);
  impl_->Wake();
  impl_->seat.CallHome();
}

void EventLoop::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(impl_->tasks_mutex);
    impl_->tasks.push_back(std::move(task));
  }
  impl_->Wake();
  impl_->seat.CallHome();
}

void EventLoop::SetSource(LoopSource& source) { impl_->source = &source; }
void EventLoop::SetInput(LoopInput* input) { impl_->input = input; }
void EventLoop::SetTurnTold(std::function<void()> hook) { impl_->turn_told = std::move(hook); }
void EventLoop::SetTurnEnd(std::function<void()> hook) { impl_->turn_end = std::move(hook); }

void EventLoop::EnsureTurnEnd() {
  if (!impl_->in_turn) impl_->empty_turn_wanted = true;
}

TimePoint EventLoop::Now() {
  return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

TimePoint EventLoop::TurnTime() const { return impl_->TurnTime(); }

void EventLoop::WakeAt(TimePoint when, std::function<void()> fire) {
  impl_->timer_at = when;
  impl_->timer_fire = std::move(fire);
  impl_->poller.WakeBy(when);
}

EventLoop::Watch::Watch(EventLoop& loop, int fd, std::function<void()> readable,
                        std::function<void()> writable)
    : poller_(loop.impl_->poller), entry_(std::make_unique<Poller::Entry>()) {
  entry_->fd = fd;
  entry_->readable = std::move(readable);
  entry_->writable = std::move(writable);
}

EventLoop::Watch::~Watch() { poller_.Remove(std::move(entry_)); }

void EventLoop::Watch::WaitReadable() {
  entry_->read_wanted = true;
  poller_.Want(*entry_);
}

void EventLoop::Watch::WaitWritable() {
  entry_->write_wanted = true;
  poller_.Want(*entry_);
}

}  // namespace leeway
