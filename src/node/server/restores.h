// Restores: blocks that begin with a record of a checkpoint, from the question for its bytes until it is
// here.
//
// Until a block is here its workers are told that it is not, and ask again.
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
    std::function<void(Block&, bool taken_over)>
        loaded;                                 // taken over: from a process that had it in this run
    std::function<void(const Status&)> failed;  // names the file
    std::function<void()> all_loaded;           // none is under way any more
  };
  // Borrows all; calls nothing once they are gone.
  Restores(Env& env, BlockStore& blocks, BufferPool& pool, Events events);

  // A block that is under way already is not begun again.
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
