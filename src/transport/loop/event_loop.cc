#include "transport/loop/event_loop.h"

#include <utility>

#include "transport/system/system_spin_world.h"

namespace leeway {
namespace {

// A pass that finds nothing is some 50 ns, asking the kernel some 400.
constexpr int kPassesPerAsking = 16;
// One that finds something may take long.
constexpr int kWeightOfAFind = 4;

}  // namespace

EventLoop::EventLoop() : spin_(SystemSpinWorld()), guest_spin_(SystemSpinWorld()) {}

EventLoop::~EventLoop() {
  // One by one, while the members are there: objects that a task holds may post when they are destroyed.
  while (!tasks_.empty()) (void)tasks_.pop_front();
}

template <typename Callback>
void EventLoop::Turn(Callback&& callback) {
  in_turn_ = true;
  callback();
  EndTurn();
}

void EventLoop::EndTurn() {
  in_turn_ = false;
  if (turn_end_) turn_end_();
  // From where it first asked for the time; a turn that never did is as good as none for the spin.
  if (turn_time_) worked_ += Now() - *std::exchange(turn_time_, std::nullopt);
  if (!in_pass_) Tell();
}

// Read once in a turn: the clock is among the dearer things that a small message meets.
TimePoint EventLoop::TurnTime() const {
  if (!turn_time_ && in_turn_) turn_time_ = Now();
  return turn_time_ ? *turn_time_ : Now();
}

bool EventLoop::Poll(LoopInput* from) {
  if (from == nullptr) return false;
  in_turn_ = true;
  const bool any = from->Poll();
  if (any) {
    EndTurn();
  } else {
    in_turn_ = false;
    turn_time_.reset();
  }
  return any;
}

bool EventLoop::RunEmptyTurns() {
  bool any = false;
  while (std::exchange(empty_turn_wanted_, false)) {
    any = true;
    Turn([] {});
  }
  return any;
}

bool EventLoop::RunTasks() {
  bool any = RunEmptyTurns();
  // Looked at before it is written to: a spin comes by here with every look.
  if (!woken_.load() || !woken_.exchange(false)) return any;
  // Only the tasks that are there now: tasks that these post come after descriptors have had their turn.
  std::unique_lock lock(tasks_mutex_);
  for (std::size_t left = tasks_.size(); left > 0 && !stopped(); --left) {
    {
      const std::function<void()> task = tasks_.pop_front();
      lock.unlock();
      any = true;
      Turn(task);
    }  // what it holds is let go without the lock
    lock.lock();
  }
  return any;
}

bool EventLoop::RunFound() {
  bool any = poller_.Dispatch([this](const std::function<void()>& handler) {
    if (!stopped()) Turn(handler);
  });
  if (poller_.TakeTimeFound() && timer_fire_ && !stopped()) {
    if (timer_at_ > Now()) {
      poller_.WakeBy(timer_at_);
    } else {
      any = true;
      Turn(std::exchange(timer_fire_, nullptr));
    }
  }
  return any;
}

bool EventLoop::DoSome(bool spins) noexcept {
  bool any = Poll(source_);
  any |= Poll(input_);
  any |= RunTasks();
  passes_unasked_ += any ? kWeightOfAFind : 1;
  if (spins && input_ != nullptr && passes_unasked_ < kPassesPerAsking) return any;
  passes_unasked_ = 0;
  poller_.Wait(/*sleep=*/false);
  any |= RunFound();
  return any;
}

bool EventLoop::MaySleep() const {
  if (source_ != nullptr && !source_->MaySleep()) return false;
  if (input_ == nullptr || input_->MaySleep()) return true;
  if (source_ != nullptr) source_->OnAwake();
  return false;
}

bool EventLoop::Sleep(TimePoint until, SpinBudget& budget) {
  const bool may_sleep = MaySleep();
  // Store and load here, in Stop and in Wake are in one total order: either this sees what they have to say
  // or they see that this sleeps.
  asleep_.store(true);
  const bool sleep = may_sleep && !woken_.load() && !stop_.load() && !empty_turn_wanted_;
  // Here, and not before the looks of a spin, which may have found an earlier time and forgotten it.
  if (sleep && until != TimePoint::max()) poller_.WakeBy(until);
  poller_.Wait(sleep);
  asleep_.store(false);
  if (source_ != nullptr && may_sleep) source_->OnAwake();
  if (input_ != nullptr && may_sleep) input_->OnAwake();
  worked_ = Duration::zero();
  bool any = RunTasks();
  any |= RunFound();
  if (any) budget.NoteWork(worked_.count());
  return any;
}

void EventLoop::Wake() {
  woken_.store(true);
  if (asleep_.exchange(false)) poller_.Wake();
}

template <typename Enough>
void EventLoop::Pass(SpinBudget& budget, const Enough& enough, TimePoint until) noexcept {
  if (Poll(source_)) Tell();
  // A wake-up across cores costs more than anything else in a small message.
  const auto look = [&] {
    worked_ = Duration::zero();
    if (!DoSome(/*spins=*/true)) return enough() || stopped();
    budget.NoteWork(worked_.count());
    return true;
  };
  // Input comes without a sleep, so the loop polls it before one, also where no spin pays. The caller may
  // wait for this input, or more may follow: then the pass is over, and later passes ask for descriptors.
  if (!(input_ != nullptr && look()) && !budget.Spin(look)) Sleep(until, budget);
  Tell();  // not before the spin's end: a thread that is told may take this core at once
}

void EventLoop::BeginRunning() {
  runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  in_pass_ = true;
  if (source_ != nullptr) source_->OnRunner(true);
}

void EventLoop::EndRunning() noexcept {
  do {
    RunEmptyTurns();
    Tell();
  } while (empty_turn_wanted_);
  in_pass_ = false;
  if (source_ != nullptr) source_->OnRunner(false);
  runner_.store(std::thread::id(), std::memory_order_relaxed);
}

void EventLoop::Run() {
  BeginRunning();
  while (!stopped()) {
    if (lock_.wanted()) {
      EndRunning();
      lock_.Lend([this] { return source_ != nullptr && source_->HasWork(); });
      BeginRunning();
      continue;
    }
    // A loop with a source works for a thread of its own process. If there is only one core, that is theirs
    // unless it sleeps.
    spin_.SetShared(source_ != nullptr && !source_->CallersSleep());
    Pass(
        spin_, [this] { return lock_.wanted(); }, TimePoint::max());
  }
  EndRunning();
  lock_.Close();
}

bool EventLoop::Help(const std::function<bool()>& finished, TimePoint until) {
  if (IsRunner() || !lock_.Acquire([this] { Wake(); })) return false;
  BeginRunning();
  if (finished()) (void)DoSome(/*spins=*/false);  // what was posted while it asked for the lock
  bool late = false;
  while (!late && !finished() && !stopped()) {
    Pass(guest_spin_, finished, until);
    late = Now() >= until;
  }
  const bool work_left = source_ != nullptr && source_->HasWork();
  EndRunning();
  const bool crowd = source_ != nullptr && source_->CallersWait();
  lock_.Release(/*to_own=*/work_left || stopped(), crowd);
  return true;
}

bool EventLoop::RunOnce(Duration wait) {
  bool any = false;
  const TimePoint until = Now() + wait;
  while (true) {
    while (!stopped() && DoSome(/*spins=*/false)) any = true;
    if (any || stopped() || wait <= Duration::zero() || Now() >= until) return any;
    any = Sleep(until, spin_);
  }
}

void EventLoop::Stop() {
  stop_.store(true);
  Wake();
  lock_.Reclaim();
}

void EventLoop::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
  }
  Wake();
  lock_.Reclaim();
}

TimePoint EventLoop::Now() {
  return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void EventLoop::WakeAt(TimePoint when, std::function<void()> fire) {
  timer_at_ = when;
  timer_fire_ = std::move(fire);
  poller_.WakeBy(when);
}

EventLoop::Watch::Watch(EventLoop& loop, int fd, std::function<void()> readable,
                        std::function<void()> writable)
    : poller_(loop.poller_), entry_(std::make_unique<Poller::Entry>()) {
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
