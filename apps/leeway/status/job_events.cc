#include "status/job_events.h"

#include <utility>

namespace leeway::app {

const char* NameOf(EventKind kind) {
  switch (kind) {
    case EventKind::kLost:
      return "lost";
    case EventKind::kRestart:
      return "restart";
    case EventKind::kRollback:
      return "rollback";
    case EventKind::kCheckpoint:
      return "checkpoint";
    case EventKind::kAsked:
      break;
  }
  return "asked";
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
