#include "node/backoff.h"

#include <algorithm>

#include "base/errors.h"
#include "base/hash.h"
#include "node/seconds.h"

namespace leeway {

void Backoff::Begin(TimePoint now) {
  down_since_ = now;
  pause_ = pause_min_;
}

Duration Backoff::NextPause(TimePoint now, Random& random) {
  // Between 0.75 and 1.25 of the back-off, so that many workers do not come back all at once.
  const double jitter = 0.75 + 0.5 * UnitInterval(random.Next());
  const Duration pause(static_cast<Duration::rep>(static_cast<double>(pause_.count()) * jitter));
  pause_ = std::min(pause_ * 2, pause_max_);
  return std::min(pause, Left(now));
}

Duration Backoff::Left(TimePoint now) const {
  return std::max(Duration::zero(), down_since_ + give_up_after_ - now);
}

Status Backoff::GivenUp(const std::string& peer, const std::string& address, TimePoint now) const {
  const double down_s = Seconds(now - down_since_);
  if (told_to_wait_) return Unavailable("{}; asked for {:.1f} s", last_error_.message(), down_s);
  return Unavailable("no answer from {}{}{} for {:.1f} s: {}; is it running?", peer,
                     address.empty() ? "" : " at ", address, down_s, last_error_.message());
}

}  // namespace leeway
