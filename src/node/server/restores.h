// Restores: reads the records of blocks that begin from a checkpoint, and makes the blocks.
//
// Until a block is here, the shard tells workers that it is not, and they ask again.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <span>

#include "block/buffer_pool.h"
#include "leeway/env.h"
#include "leeway/status.h"
#include "node/server/block_store.h"

namespace leeway {

class Restores {
 public:
  struct Events {
    std::function<void(Block&, bool taken_over)> loaded;  // taken over: another process had it in this run
    std::function<void(const Status&)> failed;            // names the file
    std::function<void()> all_loaded;                     // no read is under way any more
  };
  // Borrows all; calls nothing once they are gone.
  Restores(Env& env, BlockStore& blocks, BufferPool& pool, Events events);

  // Begins to read a block, unless its read is under way already.
  void Begin(const BlockStore::ToRestore& block);
  [[nodiscard]] bool empty() const { return under_way_.empty(); }

 private:
  [[nodiscard]] Status Load(const BlockStore::ToRestore& block, std::span<const std::byte> bytes);

  Env& env_;
  BlockStore& blocks_;
  BufferPool& pool_;
  const Events events_;
  std::set<BlockId> under_way_;
};

}  // namespace leeway
