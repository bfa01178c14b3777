// The limit: one thread that adds the gradients to the values and copies these to where the answers go.
//
// No push and pull with a copy of the answer can be faster on one core: nothing is sent, asked, counted or
// waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "leeway/status.h"
#include "shape.h"
#include "turns.h"

namespace leeway::bench {

class Limit {
 public:
  explicit Limit(const Shape& shape);
  // Block after block for `seconds`: w += g, answer = w. Returns how many.
  std::uint64_t Run(double seconds);
  // True if every answer is what was added to its block.
  [[nodiscard]] bool Check() const;

 private:
  const Shape shape_;
  const std::size_t elements_;
  std::vector<float> gradients_, values_, answers_;
  std::uint64_t done_ = 0;
};

// The same in a process of its own, on the core where the server of the others is.
class LimitJob {
 public:
  // Forks: call it before the process has threads.
  [[nodiscard]] static Result<std::unique_ptr<LimitJob>> Start(const Shape& shape, CorePlan cores);
  [[nodiscard]] Result<Turn> Run(double seconds) { return RunTogether(clients_, {}, seconds); }

 private:
  Children clients_;
};

}  // namespace leeway::bench
