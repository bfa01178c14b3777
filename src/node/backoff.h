// Backoff: when a link that is down connects again, when it gives up, and what it says then.
//
// Pauses double from backoff_min to backoff_max; the time for all attempts together is give_up_after.
// Thread rule: the link's.
#pragma once

#include <string>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

class Backoff {
 public:
  explicit Backoff(const LinkOptions& options)
      : pause_min_(options.backoff_min),
        pause_max_(options.backoff_max),
        give_up_after_(options.give_up_after) {}

  // The link is down from now on, and has the whole time to come up.
  void Begin(TimePoint now);
  // How long to wait before the next connect; at most Left.
  [[nodiscard]] Duration NextPause(TimePoint now, Random& random);
  // How much time is left for attempts.
  [[nodiscard]] Duration Left(TimePoint now) const;

  void NoteError(const Status& why) { last_error_ = why; }
  // Whether the last peer that was reached asked to be asked again later.
  void NoteToldToWait(bool told) { told_to_wait_ = told; }
  // The error of a link that gives up.
  [[nodiscard]] Status GivenUp(const std::string& peer, const std::string& address, TimePoint now) const;

 private:
  const Duration pause_min_, pause_max_, give_up_after_;
  Duration pause_{};
  TimePoint down_since_;
  Status last_error_;
  bool told_to_wait_ = false;
};

}  // namespace leeway
