#include "node/link_options.h"

#include "base/errors.h"

namespace leeway {
namespace {

Status CheckPositive(const char* name, std::chrono::milliseconds value) {
  if (value.count() > 0) return Status::Ok();
  return InvalidArgument("link option {}: got {} ms, wanted more than 0", name, value.count());
}

}  // namespace

Status CheckLinkOptions(const LinkOptions& options) {
  LW_RETURN_IF_ERROR(CheckPositive("beat", options.beat));
  LW_RETURN_IF_ERROR(CheckPositive("hello_timeout", options.hello_timeout));
  LW_RETURN_IF_ERROR(CheckPositive("backoff_min", options.backoff_min));
  LW_RETURN_IF_ERROR(CheckPositive("give_up_after", options.give_up_after));
  if (options.backoff_max < options.backoff_min) {
    return InvalidArgument("link option backoff_max: got {} ms, wanted at least backoff_min, {} ms",
                           options.backoff_max.count(), options.backoff_min.count());
  }
  // A peer beats once per beat, and its beat may come up to one beat late.
  if (options.silence_max < 2 * options.beat) {
    return InvalidArgument("link option silence_max: got {} ms, wanted at least two beats, {} ms",
                           options.silence_max.count(), 2 * options.beat.count());
  }
  return Status::Ok();
}

}  // namespace leeway
