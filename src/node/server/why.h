// Why a worker waits for a block: what its shard knows of it.
#pragma once

#include "node/server/block_store.h"
#include "wire/control.pb.h"

namespace leeway {

// The answer to one question. A block that is not here is not known.
[[nodiscard]] wire::pb::WhyReply ExplainBlock(const wire::pb::Why& why, WorkerId asks,
                                              const BlockStore& blocks);

}  // namespace leeway
