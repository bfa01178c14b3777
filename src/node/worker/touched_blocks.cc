#include "node/worker/touched_blocks.h"

#include <utility>

#include "base/check.h"
#include "node/worker/table.h"

namespace leeway {

void TouchedBlocks::Add(WorkerBlock& block) {
  if (std::exchange(block.touched, true)) return;
  (last_ == nullptr ? first_ : last_->next_touched) = &block;
  last_ = &block;
}

void TouchedBlocks::Remove(WorkerBlock& block) {
  if (!std::exchange(block.touched, false)) return;
  WorkerBlock* before = nullptr;
  for (WorkerBlock* at = first_; at != &block; at = at->next_touched) {
    LW_CHECK(at != nullptr, "block {} is touched by another port", block.id.value());
    before = at;
  }
  (before == nullptr ? first_ : before->next_touched) = block.next_touched;
  if (last_ == &block) last_ = before;
  block.next_touched = nullptr;
}

void TouchedBlocks::TakeAll(std::vector<WorkerBlock*>& blocks) {
  for (WorkerBlock* block = first_; block != nullptr;) {
    blocks.push_back(block);
    block->touched = false;
    block = std::exchange(block->next_touched, nullptr);
  }
  first_ = last_ = nullptr;
}

}  // namespace leeway
