#include "transport/event_loop.h"

#define ASIO_STANDALONE
#define ASIO_NO_DEPRECATED
// One thread runs each loop, and what other threads post passes through the scheduler's mutex: no fence is
// needed around handlers. (The thread sanitizer could not follow fences either.)
#define ASIO_DISABLE_FENCED_BLOCK
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "base/spin_budget.h"
#include "transport/system_spin_world.h"

namespace leeway {
namespace {

constexpr int kTurnsPerPass = 16;

}  // namespace

class EventLoop::Impl {
 public:
  // The hint says that one thread runs the loop; posting from others stays safe.
  Impl() : io(1), work(io.get_executor()), timer(io), resolver(io) {}

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
    in_turn = true;
    const bool any = source->Poll();
    in_turn = false;
    if (any && turn_end) turn_end();
    return any;
  }

  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::steady_timer timer;
  asio::ip::tcp::resolver resolver;
  std::function<void()> turn_end;
  std::function<void()> turn_told;
  LoopSource* source = nullptr;
  bool in_turn = false;
  bool in_pass = false;  // of Run, which tells at the end of it
  bool empty_turn_posted = false;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  Impl& impl = *impl_;
  impl.in_pass = true;
  const auto do_some = [&impl] {
    const bool polled = impl.source != nullptr && impl.PollSource();
    // Not poll(), which goes on as long as there is something: those who hand in work and those who wait for it
    // have their turn as well.
    bool any = polled;
    for (int i = 0; i < kTurnsPerPass && impl.io.poll_one() > 0; ++i) any = true;
    return any;
  };
  // A wake-up across cores costs more than anything else in a small message.
  SpinBudget spin(SystemSpinWorld());
  while (!impl.io.stopped()) {
    (void)do_some();
    impl.Tell();
    // A loop with a source works for a thread of its own process. If there is only one core, that is theirs
    // unless it sleeps.
    spin.SetShared(impl.source != nullptr && !impl.source->CallersSleep());
    if (spin.Spin(do_some)) {
      impl.Tell();  // not before the spin's end: whoever is told may take this core at once
      continue;
    }
    if (impl.source == nullptr || impl.source->MaySleep()) impl.io.run_one();
  }
  impl.in_pass = false;
  impl.Tell();
}

bool EventLoop::RunOnce(Duration wait) {
  if (impl_->io.poll() > 0) return true;
  if (wait <= Duration::zero()) return false;
  if (impl_->io.run_one_for(wait) == 0) return false;
  impl_->io.poll();
  return true;
}

void EventLoop::Stop() { impl_->io.stop(); }

void EventLoop::Post(std::function<void()> task) {
  asio::post(impl_->io, [impl = impl_.get(), task = std::move(task)] { impl->Turn(task); });
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
