#include "transport/real_env.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/check.h"
#include "transport/file_storage.h"
#include "transport/local/shared_arena.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/thread_compute.h"
#include "transport/loop/timer_queue.h"
#include "transport/stream/stream_options.h"
#include "transport/stream/stream_transport.h"
#include "transport/system/descriptor.h"

namespace leeway {
namespace {

// Stands still during a turn, as in the simulator.
class RealClock final : public Clock {
 public:
  explicit RealClock(const EventLoop& loop) : loop_(loop) {}
  [[nodiscard]] TimePoint Now() const override { return loop_.TurnTime(); }

 private:
  const EventLoop& loop_;
};

// All timers of a node over the loop's one.
class RealTimers final : public Timers {
 public:
  explicit RealTimers(EventLoop& loop) : loop_(loop) {}

  [[nodiscard]] TimerId After(Duration delay, std::function<void()> fire) override {
    const TimerId id = queue_.Add(EventLoop::Now() + delay, std::move(fire));
    Arm();
    return id;
  }
  void Cancel(TimerId id) override { queue_.Cancel(id); }

 private:
  // A cancelled timer leaves the wake-up standing: waking once for nothing is cheaper than re-arming at every
  // cancel.
  void Arm() {
    const std::optional<TimePoint> next = queue_.Next();
    if (!next || (armed_ && *armed_ <= *next)) return;
    armed_ = next;
    loop_.WakeAt(*next, [this] { OnWake(); });
  }
  void OnWake() {
    armed_.reset();
    const TimePoint now = EventLoop::Now();
    while (const std::function<void()> fire = queue_.TakeDue(now)) fire();
    Arm();
  }

  EventLoop& loop_;
  TimerQueue queue_;
  std::optional<TimePoint> armed_;
};

// The kernel's own generator, some words at a time. (No generator of ours that is seeded from it: the outputs
// of a fast one give its state away.)
class RealRandom final : public Random {
 public:
  std::uint64_t Next() override {
    if (left_ == 0) Fill();
    return std::exchange(words_[--left_], 0);
  }

 private:
  void Fill() {
    // 256 bytes come whole once the system has started.
    const ssize_t got = getrandom(words_.data(), sizeof(words_), 0);
    LW_CHECK(got == static_cast<ssize_t>(sizeof(words_)), "getrandom gave {} bytes: {}", got,
             ErrnoText(errno));
    left_ = words_.size();
  }
  std::array<std::uint64_t, 32> words_{};
  std::size_t left_ = 0;
};

}  // namespace

class RealEnv::Impl {
 public:
  Impl(Log& log, const StreamOptions& options)
      : clock(loop),
        timers(loop),
        transport(loop, clock, timers, log, random, arena, options),
        storage(loop),
        compute(loop, "leeway-compute"),
        env{clock, timers, transport, random, log, storage, compute, arena} {}

  EventLoop loop;
  RealClock clock;
  RealTimers timers;
  RealRandom random;
  SharedArena arena;
  StreamTransport transport;
  FileStorage storage;
  ThreadCompute compute;
  Env env;
};

RealEnv::RealEnv(Log& log, bool allow_non_loopback, Carrier carrier)
    : RealEnv(log, StreamOptions{.carrier = carrier, .allow_non_loopback = allow_non_loopback}) {}

RealEnv::RealEnv(Log& log, const StreamOptions& options) : impl_(std::make_unique<Impl>(log, options)) {}

RealEnv::~RealEnv() = default;

Env& RealEnv::env() { return impl_->env; }
void RealEnv::Run() { impl_->loop.Run(); }
bool RealEnv::RunOnce(Duration wait) { return impl_->loop.RunOnce(wait); }
bool RealEnv::IsRunner() const { return impl_->loop.IsRunner(); }
void RealEnv::Stop() { impl_->loop.Stop(); }
void RealEnv::Post(std::function<void()> task) { impl_->loop.Post(std::move(task)); }
void RealEnv::SetPassEnd(std::function<void()> hook) { impl_->loop.SetPassEnd(std::move(hook)); }

}  // namespace leeway
