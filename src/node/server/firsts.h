// Firsts: where the blocks of a shard count a member from that has come to the running job.
#pragma once

#include "block/block.h"
#include "node/server/block_store.h"
#include "wire/control.pb.h"

namespace leeway {

// One figure for the job's clock, one for each table with its own.
void AddFirsts(const BlockStore& blocks, MemberKey member, wire::pb::EpochAck& ack);

}  // namespace leeway
