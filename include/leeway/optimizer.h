// Optimizer: turns a gradient into new values, on the thread of the block's shard. One file per optimizer in
// src/optimizer/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "leeway/status.h"

namespace leeway {

// The hyper-parameters that travel in every push, so that schedules and parameter groups need no server
// state.
struct Hyper {
  float lr = 0.01F;
  float weight_decay = 0.0F;
  float momentum = 0.9F;  // beta1 for adam and adamw
  float beta2 = 0.999F;   // alpha for rmsprop
  float eps = 1e-8F;
  float dampening = 0.0F;
  friend bool operator==(const Hyper&, const Hyper&) = default;
};

// The input of one run over one block. w, g, every slot and every output have equal sizes.
struct StepInput {
  std::span<const float> w;
  std::span<const float> g;  // one gradient, or a weighted sum of several
  float g_scale = 1.0F;      // the optimizer steps on g * g_scale, the (mean) gradient
  float lr_scale = 1.0F;     // 1/N (immediate) or d/N (aggregate), multiplies lr
  std::uint64_t step = 1;    // number of this run on this block, from 1
  Hyper hyper;
  std::span<const std::span<const float>> slots;  // state after the previous run; initial() before the first
};

struct StepOutput {
  std::span<float> w;
  std::span<const std::span<float>> slots;
};

// The most arrays of state that an optimizer may have: the protocol numbers them in one byte.
inline constexpr int kOptimizerSlotsMax = 8;

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Returns the number of state arrays (0 for sgd, 1 for momentum, 2 for adam), at most kOptimizerSlotsMax.
  [[nodiscard]] virtual int slots() const = 0;
  // Returns the value of every element of a slot before the first run.
  [[nodiscard]] virtual float initial(int /*slot*/) const { return 0.0F; }
  // Returns whether a run needs all values of a table at once (for a norm, say). If so the table becomes one
  // block, and a table too large for one block is refused.
  [[nodiscard]] virtual bool whole_table() const { return false; }
  // Writes new values and state into `out`, which overlaps nothing in `in`. Returns whether everything it
  // wrote is finite; if not, the caller publishes nothing. Stateless and thread-safe.
  [[nodiscard]] virtual bool Step(const StepInput& in, const StepOutput& out) const = 0;
  // Moves values that no run has produced (initial and assigned ones) into the range that runs keep. Does
  // nothing unless the table has a constraint.
  virtual void Constrain(std::span<float> /*values*/) const {}
};

using OptimizerPtr = std::unique_ptr<Optimizer>;

}  // namespace leeway
