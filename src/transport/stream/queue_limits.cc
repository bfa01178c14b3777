#include "transport/stream/queue_limits.h"

#include "base/errors.h"

namespace leeway {
namespace {

std::int64_t InMilliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

}  // namespace

bool IsOverLimit(const SendQueue& queue, const StreamOptions& options) {
  return queue.frames() > options.queue_frames_max || queue.copied_bytes() > options.queue_copied_bytes_max ||
         queue.pinned_bytes() > options.queue_pinned_bytes_max;
}

Status CheckStall(const std::string& peer, const SendQueue& queue, Duration since,
                  const StreamOptions& options) {
  if (since < options.stall_max) return Status::Ok();
  return ResourceExhausted(
      "{} does not read what is sent to it: {} frames, {} copied and {} pinned bytes are queued and none has "
      "left for {} ms; at most {} frames, {} copied and {} pinned bytes may wait",
      peer, queue.frames(), queue.copied_bytes(), queue.pinned_bytes(), InMilliseconds(since),
      options.queue_frames_max, options.queue_copied_bytes_max, options.queue_pinned_bytes_max);
}

Status CheckSharedStall(const std::string& peer, std::uint64_t pinned_bytes, std::size_t pinned_frames,
                        Duration since, const StreamOptions& options) {
  if (since < options.stall_max) return Status::Ok();
  return ResourceExhausted(
      "{} does not take what is shared with it: {} bytes of {} frames wait and none was taken for {} ms; "
      "at most {} bytes may wait",
      peer, pinned_bytes, pinned_frames, InMilliseconds(since), options.queue_pinned_bytes_max);
}

}  // namespace leeway
