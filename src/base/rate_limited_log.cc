#include "base/rate_limited_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace leeway {

void RateLimitedLog::Warn(std::string what) {
  const TimePoint now = clock_.Now();
  if (written_ == 0 || now - since_ >= kEvery) {
    // A period after a noisy one gets a smaller allowance: otherwise the total would still grow with time.
    const bool calm = kept_back_ == 0;
    Flush();
    since_ = now;
    written_ = calm ? 0 : kAtOnce - 1;
  }
  if (written_ < kAtOnce) {
    ++written_;
    log_.Write(LogLevel::kWarning, what);
    return;
  }
  ++kept_back_;
  last_ = std::move(what);
}

void RateLimitedLog::WarnOnce(const std::string& what) {
  if (clock_.Now() - since_ >= kEvery) once_.clear();
  if (std::ranges::find(once_, what) != once_.end()) return;
  Warn(what);
  if (once_.size() < kAtOnce) once_.push_back(what);
}

void RateLimitedLog::Flush() {
  if (kept_back_ == 0) return;
  log_.Write(LogLevel::kWarning, fmt::format("and {} more such warnings, the last: {}",
                                             std::exchange(kept_back_, 0), std::exchange(last_, {})));
}

}  // namespace leeway
