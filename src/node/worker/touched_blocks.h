// TouchedBlocks: the blocks of a port that may have something to send, in the order in which they came.
//
// A chain through the blocks themselves, which whoever touches one has at hand: where thousands of workers
// share a cache, a list in a place of its own is one more line from memory for every frame. Thread rule: the
// node's.
#pragma once

#include <vector>

namespace leeway {

struct WorkerBlock;

class TouchedBlocks {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  // One that is in it already stays where it is.
  void Add(WorkerBlock& block);
  void Remove(WorkerBlock& block);  // REQUIRES: it is in this one, or in none
  // Moves all of them to the end of `blocks`.
  void TakeAll(std::vector<WorkerBlock*>& blocks);

 private:
  WorkerBlock* first_ = nullptr;
  WorkerBlock* last_ = nullptr;
};

}  // namespace leeway
