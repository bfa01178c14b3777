#include "node/server/server_node.h"

#include <utility>

#include "node/server/core.h"

namespace leeway {

ServerNode::ServerNode(const ServerOptions& options, Env& env, const ServerPolicies& policies,
                       AddressSource scheduler, std::function<void(const Status&)> ended)
    : core_(std::make_unique<Core>(options, env, policies, std::move(scheduler), std::move(ended))) {}

ServerNode::~ServerNode() = default;

Status ServerNode::Start() { return core_->Start(); }

void ServerNode::Stop() { core_->Stop(Status::Ok()); }

const std::string& ServerNode::address() const { return core_->address(); }

const Block* ServerNode::FindBlock(BlockId id) const { return core_->blocks().Find(id); }

BlockCounters ServerNode::counters() const { return core_->blocks().Sum(); }

}  // namespace leeway
