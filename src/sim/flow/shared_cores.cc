#include "sim/flow/shared_cores.h"

#include <optional>

namespace leeway::sim {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

}  // namespace

SharedCores::SharedCores(EventQueue& queue, double cores)
    : queue_(queue), time_(cores * kNanosecondsPerSecond, kNanosecondsPerSecond) {}

void SharedCores::Run(Duration work, std::function<void()> done) {
  const std::uint32_t id = next_++;
  running_.emplace(id, std::move(done));
  time_.Begin(id, static_cast<double>(work.count()), queue_.now());
  Watch();
}

void SharedCores::Watch() {
  const std::optional<Duration> next = time_.NextEnd();
  if (!next || *next >= looked_at_) return;
  looked_at_ = *next;
  queue_.At(*next, [this] { Look(); });
}

void SharedCores::Look() {
  // A newcomer makes the others slower, so a look may find nothing; only the last look asked for counts.
  if (queue_.now() != looked_at_) return;
  looked_at_ = Duration::max();
  while (const std::optional<std::uint32_t> id = time_.TakeEnded(queue_.now())) {
    const auto found = running_.find(*id);
    const std::function<void()> done = std::move(found->second);
    running_.erase(found);
    done();
  }
  Watch();
}

void WorkLine::Add(Duration work, std::function<void()> done) {
  state_->undone += work;
  state_->left.emplace_back(work, std::move(done));
  if (!state_->busy) Next(state_);
}

void WorkLine::Next(const std::shared_ptr<State>& state) {
  if (state->left.empty() || state->gone) return;
  state->busy = true;
  auto [work, done] = std::move(state->left.front());
  state->left.pop_front();
  state->cores->Run(work, [state, done = std::move(done), takes = work] {
    state->busy = false;
    state->undone -= takes;
    if (state->gone) return;
    done();
    if (!state->busy) Next(state);
  });
}

}  // namespace leeway::sim
