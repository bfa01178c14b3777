#include "status/worker_lives.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "leeway/status.h"

namespace leeway::app {
namespace {

LifeEnd Judge(const ProcessEnd& how, bool asked) {
  if (how.exit_code == 0) return LifeEnd::kDone;
  if (asked) return LifeEnd::kAsked;
  return how.exit_code < 128 ? LifeEnd::kFailed : LifeEnd::kLost;
}

}  // namespace

const char* NameOf(LifeBegan began) {
  constexpr const char* kNames[] = {"start", "restart", "rejoin"};
  return kNames[static_cast<std::size_t>(began)];
}

const char* NameOf(LifeEnd end) {
  constexpr const char* kNames[] = {"running", "done", "failed", "lost", "asked", "late"};
  return kNames[static_cast<std::size_t>(end)];
}

LifeEnd WorkerLives::End(std::uint32_t rank, const ProcessEnd& how, bool asked) {
  LW_CHECK(!workers_[rank].empty(), "worker {} was never started", rank);
  Life& life = workers_[rank].back();
  life.how = how;
  life.end = Judge(how, asked);
  return life.end;
}

bool WorkerLives::TakeNext(std::uint32_t rank, NextLife& next) {
  const Life& life = workers_[rank].back();
  LW_CHECK(life.end == LifeEnd::kLost, "worker {} is {}", rank, NameOf(life.end));
  const bool fenced = life.how.signal == 0 && life.how.exit_code == ExitCode({StatusCode::kFenced, ""});
  if (options_.rejoin && fenced) {
    next.began = LifeBegan::kRejoin;
    next.why = "it was declared dead, and --rejoin is given";
  } else if (restarted_ < options_.restarts) {
    next.began = LifeBegan::kRestart;
    next.why = fmt::format("restart {} of {}", ++restarted_, options_.restarts);
  } else {
    return false;
  }
  next.back_off = options_.back_off;
  for (std::size_t i = 1; i < workers_[rank].size() && next.back_off < options_.back_off_max; ++i) {
    next.back_off = std::min(2 * next.back_off, options_.back_off_max);
  }
  return true;
}

std::size_t WorkerLives::RestartsOf(std::uint32_t rank) const {
  return workers_[rank].empty() ? 0 : workers_[rank].size() - 1;
}

std::size_t WorkerLives::Count(std::uint32_t rank, LifeBegan began) const {
  return static_cast<std::size_t>(std::ranges::count(workers_[rank], began, &Life::began));
}

std::size_t WorkerLives::CountNow(LifeEnd end) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      workers_, [end](const std::vector<Life>& lives) { return !lives.empty() && lives.back().end == end; }));
}

bool WorkerLives::Eventful() const {
  return std::ranges::any_of(workers_, [](const std::vector<Life>& lives) {
    return lives.size() > 1 || (lives.size() == 1 && lives[0].end != LifeEnd::kDone);
  });
}

}  // namespace leeway::app
