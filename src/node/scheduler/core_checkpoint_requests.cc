// Checkpoints that someone asks for while the job runs.
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"

namespace leeway {

Status SchedulerNode::Core::MayCheckpoint() const {
  if (!checkpoints_.enabled()) {
    return FailedPrecondition(
        "the job \"{}\" writes no checkpoints: its scheduler was started without --checkpoint-dir",
        options_.job.job);
  }
  // A code of its own: another try may find the tables there, and one at the end of the job does not.
  if (!over_ && (!members_.gathered() || tables_.all().empty()))
    return NotFound("{}", CheckTraining().message());
  return CheckTraining();
}

void SchedulerNode::Core::RequestCheckpoint(CheckpointRequests::Done done) {
  if (Status may = MayCheckpoint(); !may.ok()) return done({std::move(may), 0, Iteration(-1), {}});
  requests_.Add(std::move(done));
  checkpoints_.Ask();
  ReviewCheckpoints();
}

Status SchedulerNode::Core::TakeCheckpointRequest(ConnectionId id, std::span<const std::byte> body) {
  wire::pb::Checkpoint request;
  LW_RETURN_IF_ERROR(ParseControl(wire::Kind::kCheckpoint, body, request));
  const auto reply = [this, id, number = request.request()](const CheckpointOutcome& outcome) {
    inbound_.SendControl(id, wire::Kind::kCheckpointReply, ToReply(number, outcome));
  };
  const Status may = MayCheckpoint();
  if (!may.ok() || !request.wait()) reply({may, 0, Iteration(-1), {}});
  if (!may.ok()) return Status::Ok();
  if (request.wait()) requests_.Add(id, reply);
  checkpoints_.Ask();
  ReviewCheckpoints();
  return Status::Ok();
}

void SchedulerNode::Core::AnswerCheckpointRequests() {
  const Checkpoints::Last& last = *checkpoints_.last();
  requests_.AnswerAll({Status::Ok(), last.checkpoint, last.iteration, last.folder});
}

}  // namespace leeway
