// Optimizer: how a server turns a gradient into new values. One file per optimizer in src/optimizer/.
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

// One run over one block. Sizes of w, g, every slot and every output are equal.
struct StepInput {
  std::span<const float> w;
  std::span<const float> g;  // one gradient, or a weighted sum of several
  float g_scale = 1.0F;      // g * g_scale is the (mean) gradient to step on
  float lr_scale = 1.0F;     // 1/N (immediate) or d/N (aggregate), on lr as a whole
  std::uint64_t step = 1;    // which run of the optimizer on this block, from 1
  Hyper hyper;
  std::span<const std::span<const float>> slots;  // state after the run before; initial() before the first
};

struct StepOutput {
  std::span<float> w;
  std::span<const std::span<float>> slots;
};

// Arrays of state that an optimizer may have. The protocol numbers them in one byte.
inline constexpr int kOptimizerSlotsMax = 8;

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Arrays of state per value (0 for sgd, 1 for momentum, 2 for adam), at most kOptimizerSlotsMax.
  [[nodiscard]] virtual int slots() const = 0;
  // What every value of a slot is before the first run.
  [[nodiscard]] virtual float initial(int /*slot*/) const { return 0.0F; }
  // Does a run need all values of a table (a norm, say)? Then the table is one block, and is refused if it is
  // too large for that.
  [[nodiscard]] virtual bool whole_table() const { return false; }
  // Writes new values and state into `out`, which overlaps nothing of `in`. Returns whether all it wrote is
  // finite; if not the caller publishes nothing. Stateless and thread-safe.
  [[nodiscard]] virtual bool Step(const StepInput& in, const StepOutput& out) const = 0;
  // Puts values that no run has made, initial and assigned ones, where runs leave theirs. Does nothing unless
  // the table is constrained.
  virtual void Constrain(std::span<float> /*values*/) const {}
};

using OptimizerPtr = std::unique_ptr<Optimizer>;

}  // namespace leeway
