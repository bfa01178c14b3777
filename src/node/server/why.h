// ExplainBlock: tells a worker why it waits for a block.
#pragma once

#include "node/server/block_store.h"
#include "wire/control.pb.h"

namespace leeway {

// The reply says whether the shard has the block.
[[nodiscard]] wire::pb::WhyReply ExplainBlock(const wire::pb::Why& why, WorkerId asks,
                                              const BlockStore& blocks);

}  // namespace leeway
