#include "node/scheduler/checkpoint_requests.h"

#include <utility>

#include "node/control_frame.h"

namespace leeway {

void CheckpointRequests::AnswerAll(const CheckpointOutcome& outcome) {
  const auto calls = std::exchange(calls_, {});
  const auto monitors = std::exchange(monitors_, {});
  for (const auto& [monitor, done] : monitors) done(outcome);
  for (const Done& done : calls) done(outcome);
}

wire::pb::CheckpointReply ToReply(std::uint64_t request, const CheckpointOutcome& outcome) {
  wire::pb::CheckpointReply reply;
  reply.set_request(request);
  if (!outcome.status.ok()) {
    reply.set_error(ClippedMessage(outcome.status.message()));
    reply.set_error_code(static_cast<std::uint32_t>(outcome.status.code()));
    return reply;
  }
  reply.set_checkpoint(outcome.checkpoint);
  reply.set_iteration(outcome.iteration.value());
  reply.set_folder(outcome.folder);
  return reply;
}

}  // namespace leeway
