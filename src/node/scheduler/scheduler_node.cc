#include "node/scheduler/scheduler_node.h"

#include <utility>

#include "node/scheduler/core.h"

namespace leeway {

SchedulerNode::SchedulerNode(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
                             std::function<void(const Status&)> ended)
    : core_(std::make_unique<Core>(options, env, policies, std::move(ended))) {}

SchedulerNode::~SchedulerNode() = default;

Status SchedulerNode::Start() { return core_->Start(); }

void SchedulerNode::Stop(const Status& why) { core_->Stop(why); }

const std::string& SchedulerNode::address() const { return core_->address(); }

bool SchedulerNode::has_log() const { return core_->has_log(); }

std::string SchedulerNode::StatusJson() const { return core_->Json(); }

HeldPushes::Lacking SchedulerNode::Lacking() const { return core_->Lacking(); }

void SchedulerNode::RequestCheckpoint(CheckpointRequests::Done done) {
  core_->RequestCheckpoint(std::move(done));
}

}  // namespace leeway
