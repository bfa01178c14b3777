#include "status/job_events.h"

#include <utility>

namespace leeway::app {

const char* NameOf(EventKind kind) {
  constexpr const char* kNames[] = {"lost", "restart", "rollback", "checkpoint", "asked"};
  return kNames[static_cast<std::size_t>(kind)];
}

void JobEvents::Add(EventKind kind, std::string who, std::string what) {
  if (events_.size() >= kMax) {
    ++left_out_;
    return;
  }
  const double at_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  events_.push_back({at_s, kind, std::move(who), std::move(what)});
}

}  // namespace leeway::app
