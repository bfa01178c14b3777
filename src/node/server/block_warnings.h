// BlockWarnings: what goes wrong in blocks without an error to anyone, said once each in the log of the
// shard.
#pragma once

#include "leeway/env.h"
#include "node/server/block_store.h"

namespace leeway {

class BlockWarnings {
 public:
  // Looks at the counters of all blocks; called with every beat.
  void Look(const BlockStore& blocks, Log& log);

 private:
  bool mismatch_said_ = false;
  bool overflow_said_ = false;
  bool memory_said_ = false;
};

}  // namespace leeway
