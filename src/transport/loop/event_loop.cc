#include "transport/loop/event_loop.h"

#include <utility>

namespace leeway {
namespace {

// The end of a pass that only looks.
constexpr TimePoint kNoWait = TimePoint::min();
// While input comes without system calls, the kernel is not asked in every pass.
constexpr int kPassesPerAsking = 4;

}  // namespace

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
  turn_time_.reset();
}

// Read once in a turn: the clock is among the dearer things that a small message meets.
TimePoint EventLoop::TurnTime() const {
  if (!turn_time_ && in_turn_) turn_time_ = Now();
  return turn_time_ ? *turn_time_ : Now();
}

bool EventLoop::PollInput() {
  if (input_ == nullptr) return false;
  in_turn_ = true;
  const bool any = input_->Poll();
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
  if (!woken_.load() || !woken_.exchange(false)) return any;  // mostly no write
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

bool EventLoop::Pass(TimePoint until) noexcept {
  const bool input = PollInput();
  bool any = RunTasks() || input;
  if (!input || ++passes_unasked_ >= kPassesPerAsking) any |= AskDescriptors(any, until);
  EndPass();
  return any;
}

bool EventLoop::AskDescriptors(bool came, TimePoint until) {
  passes_unasked_ = 0;
  const bool may_sleep = !came && until != kNoWait && (input_ == nullptr || input_->MaySleep());
  // Store and load here, in Stop and in Wake are in one total order: either this sees what they have to say
  // or they see that this sleeps.
  if (may_sleep) asleep_.store(true);
  const bool sleep = may_sleep && !woken_.load() && !stop_.load() && !empty_turn_wanted_;
  if (sleep && until != TimePoint::max()) poller_.WakeBy(until);
  poller_.Wait(sleep);
  asleep_.store(false);
  if (input_ != nullptr && may_sleep) input_->OnAwake();
  const bool any = RunTasks();
  return RunFound() || any;
}

void EventLoop::Wake() {
  woken_.store(true);
  if (asleep_.exchange(false)) poller_.Wake();
}

void EventLoop::Run() {
  runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  while (!stopped()) Pass(TimePoint::max());
  // Leaves nothing queued behind.
  RunEmptyTurns();
  runner_.store(std::thread::id(), std::memory_order_relaxed);
}

bool EventLoop::RunOnce(Duration wait) {
  bool any = false;
  const TimePoint until = Now() + wait;
  while (!stopped()) {
    if (Pass(any || wait <= Duration::zero() ? kNoWait : until)) {
      any = true;
    } else if (any || Now() >= until) {
      break;
    }
  }
  return any;
}

void EventLoop::Stop() {
  stop_.store(true);
  Wake();
}

void EventLoop::Post(std::function<void()> task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks_.push_back(std::move(task));
  }
  Wake();
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
