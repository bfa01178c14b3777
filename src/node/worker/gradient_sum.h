// GradientSum: the gradients of a table that add up in the worker while it does not exchange them.
//
// The sum is in a pooled buffer, which goes out as the push of the iteration that exchanges. Gradients are
// added as they are, and the sum stands for as many samples as one of them does on the average: so k
// iterations exchanged at once move the values as far as k exchanges would, and weigh against what other
// workers give to that iteration as one gradient does. Thread rule: the node's.
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
  std::uint32_t samples_ = 0;  // of all together, as many as can be said
  std::uint32_t gradients_ = 0;
};

}  // namespace leeway
