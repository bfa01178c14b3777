#include "transport/event_loop.h"

#define ASIO_STANDALONE
#define ASIO_NO_DEPRECATED
// One thread at a time runs each loop, and what other threads post passes through the scheduler's mutex: no
// fence is needed around handlers. (The thread sanitizer could not follow fences either.)
#define ASIO_DISABLE_FENCED_BLOCK
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/spin_budget.h"
#include "transport/loop_seat.h"
#include "transport/signals_blocked.h"
#include "transport/system_spin_world.h"

namespace leeway {
namespace {

constexpr int kTurnsPerPass = 16;

}  // namespace

class EventLoop::Impl {
 public:
  // The hint says that one thread at a time runs the loop; posting from others stays safe.
  Impl()
      : io(1),
        work(io.get_executor()),
        timer(io),
        resolver(io),
        spin(SystemSpinWorld()),
        guest_spin(SystemSpinWorld()) {}

  template <typename Callback>
  void Turn(Callback&& callback) {
    in_turn = true;
    callback();
    in_turn = false;
    if (turn_end) turn_end();
    if (!in_pass) Tell();
  }

  void Tell() {
    if (turn_told) turn_told();
  }

  // What the source has, as a turn. True if it had something.
  bool PollSource() {
    if (source == nullptr) return false;
    in_turn = true;
    const bool any = source->Poll();
    in_turn = false;
    if (any && turn_end) turn_end();
    return any;
  }

  bool DoSome() {
    bool any = PollSource();
    // Not poll(), which goes on as long as there is something: those who hand in work and those who wait for
    // it have their turn as well.
    for (int i = 0; i < kTurnsPerPass && io.poll_one() > 0; ++i) any = true;
    return any;
  }

  // Does what is there. What throws in a callback ends the process, on whatever thread. If there is nothing:
  // looks again as long as the budget says, or until `enough`, then calls `sleep`, which waits in the kernel
  // and does one thing.
  template <typename Enough, typename Sleep>
  void Pass(SpinBudget& budget, Enough enough, Sleep sleep) noexcept {
    if (PollSource()) Tell();
    // A wake-up across cores costs more than anything else in a small message.
    if (!budget.Spin([&] { return DoSome() || enough(); })) {
      if (source == nullptr) {
        sleep();
      } else if (source->MaySleep()) {
        sleep();
        source->OnAwake();
      }
    }
    Tell();  // not before the spin's end: whoever is told may take this core at once
  }

  void SitDown() {
    runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    in_pass = true;
    if (source != nullptr) source->OnRunner(true);
  }
  void StandUp() {
    in_pass = false;
    Tell();
    if (source != nullptr) source->OnRunner(false);
    runner.store(std::thread::id(), std::memory_order_relaxed);
  }

  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::steady_timer timer;
  asio::ip::tcp::resolver resolver;
  LoopSeat seat;
  std::atomic<std::thread::id> runner;  // in the seat now
  // Everything below belongs to the thread in the seat.
  SpinBudget spin;        // of the loop's own thread
  SpinBudget guest_spin;  // of all who help
  std::function<void()> turn_end;
  std::function<void()> turn_told;
  LoopSource* source = nullptr;
  bool in_turn = false;
  bool in_pass = false;  // of Run or Help, which tell at the end of it
  bool empty_turn_posted = false;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  Impl& impl = *impl_;
  impl.SitDown();
  while (!impl.io.stopped()) {
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
        impl.spin, [&impl] { return impl.seat.wanted(); }, [&impl] { impl.io.run_one(); });
  }
  impl.StandUp();
  impl.seat.Close();
}

bool EventLoop::Help(const std::function<bool()>& finished, TimePoint until) {
  Impl& impl = *impl_;
  if (IsRunner() || !impl.seat.Enter([&impl] { asio::post(impl.io, [] {}); })) return false;
  impl.SitDown();
  const std::chrono::steady_clock::time_point limit(until.time_since_epoch());
  if (finished()) (void)impl.DoSome();  // what was posted while it asked for the seat
  bool late = false;
  while (!late && !finished() && !impl.io.stopped()) {
    impl.Pass(impl.guest_spin, finished, [&] { impl.io.run_one_until(limit); });
    late = Now() >= until;
  }
  const bool work_left = impl.source != nullptr && impl.source->HasWork();
  impl.StandUp();
  const bool crowd = impl.source != nullptr && impl.source->CallersWait();
  impl.seat.Leave(/*to_own=*/work_left || impl.io.stopped(), crowd);
  return true;
}

void EventLoop::CallHome() { impl_->seat.CallHome(); }

bool EventLoop::IsRunner() const {
  return impl_->runner.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

bool EventLoop::RunOnce(Duration wait) {
  if (impl_->io.poll() > 0) return true;
  if (wait <= Duration::zero()) return false;
  if (impl_->io.run_one_for(wait) == 0) return false;
  impl_->io.poll();
  return true;
}

void EventLoop::Stop() {
  impl_->io.stop();
  impl_->seat.CallHome();
}

void EventLoop::Post(std::function<void()> task) {
  asio::post(impl_->io, [impl = impl_.get(), task = std::move(task)] { impl->Turn(task); });
  impl_->seat.CallHome();
}

void EventLoop::SetSource(LoopSource& source) { impl_->source = &source; }
void EventLoop::SetTurnTold(std::function<void()> hook) { impl_->turn_told = std::move(hook); }
void EventLoop::SetTurnEnd(std::function<void()> hook) { impl_->turn_end = std::move(hook); }

void EventLoop::EnsureTurnEnd() {
  if (impl_->in_turn || std::exchange(impl_->empty_turn_posted, true)) return;
  Post([impl = impl_.get()] { impl->empty_turn_posted = false; });
}

TimePoint EventLoop::Now() {
  return TimePoint(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

void EventLoop::WakeAt(TimePoint when, std::function<void()> fire) {
  impl_->timer.expires_at(std::chrono::steady_clock::time_point(when.time_since_epoch()));
  impl_->timer.async_wait([impl = impl_.get(), fire = std::move(fire)](const asio::error_code& error) {
    if (!error) impl->Turn(fire);
  });
}

void EventLoop::Resolve(const Endpoint& endpoint,
                        std::function<void(Result<std::vector<SocketAddress>>)> done) {
  const SignalsBlocked blocked;  // the first call makes a thread
  impl_->resolver.async_resolve(
      endpoint.host, std::to_string(endpoint.port), asio::ip::resolver_base::numeric_service,
      [impl = impl_.get(), host = endpoint.host, done = std::move(done)](
          const asio::error_code& error, const asio::ip::tcp::resolver::results_type& results) {
        if (error == asio::error::operation_aborted) return;
        impl->Turn([&] {
          if (error) {
            done(Unavailable("cannot look up host \"{}\": {}", host, error.message()));
            return;
          }
          std::vector<SocketAddress> found;
          for (const auto& result : results) {
            const auto at = result.endpoint();
            found.push_back(SocketAddress::FromRaw(at.data(), at.size()));
          }
          done(std::move(found));
        });
      });
}

struct EventLoop::Watch::State : std::enable_shared_from_this<State> {
  State(EventLoop::Impl& the_loop, int fd, std::function<void()> on_readable,
        std::function<void()> on_writable)
      : loop(the_loop),
        descriptor(the_loop.io, fd),
        readable(std::move(on_readable)),
        writable(std::move(on_writable)) {}

  EventLoop::Impl& loop;
  asio::posix::stream_descriptor descriptor;
  std::function<void()> readable;
  std::function<void()> writable;
  bool read_pending = false;
  bool write_pending = false;
  bool closed = false;
};

EventLoop::Watch::Watch(EventLoop& loop, int fd, std::function<void()> readable,
                        std::function<void()> writable)
    : state_(std::make_shared<State>(*loop.impl_, fd, std::move(readable), std::move(writable))) {}

EventLoop::Watch::~Watch() {
  state_->closed = true;
  state_->descriptor.release();  // cancels what is pending, leaves the descriptor to its owner
}

void EventLoop::Watch::WaitReadable() {
  if (std::exchange(state_->read_pending, true)) return;
  state_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                [state = state_](const asio::error_code&) {
                                  state->read_pending = false;
                                  if (!state->closed) state->loop.Turn(state->readable);
                                });
}

void EventLoop::Watch::WaitWritable() {
  if (std::exchange(state_->write_pending, true)) return;
  state_->descriptor.async_wait(asio::posix::stream_descriptor::wait_write,
                                [state = state_](const asio::error_code&) {
                                  state->write_pending = false;
                                  if (!state->closed) state->loop.Turn(state->writable);
                                });
}

}  // namespace leeway
