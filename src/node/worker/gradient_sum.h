// GradientSum: the gradients of a table that add up in the worker while it does not exchange them.
//
// The sum is in a pooled buffer, which goes out as the push of the iteration that exchanges. Gradients are
// added as they are, and so are their samples: k iterations exchanged at once move the values as far as k
// exchanges would. Thread rule: the node's.
#pragma once

#include <cstdint>
#include <span>

#include "block/buffer_pool.h"
#include "node/worker/lent_gradient.h"

namespace leeway {

class GradientSum {
 public:
  [[nodiscard]] bool empty() const { return values_ == nullptr; }
  [[nodiscard]] std::span<const float> values() const;

  void Add(const LentGradient& gradient, BufferPool& pool);
  // The sum, with the hyper-parameters of the last gradient in it; empty from then on. REQUIRES: not empty.
  [[nodiscard]] LentGradient Take();

 private:
  BufferRef values_;
  Hyper hyper_;
  std::uint32_t samples_ = 0;
};

}  // namespace leeway
