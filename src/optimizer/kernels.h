// Kernels: the loops that run over every value of a block, as free functions on spans.
//
// All spans of one call have the same size, and outputs overlap no input (except `acc`, which is both); any
// alignment of a float will do. Each kernel is compiled for several vector units, and the processor's best
// one runs (kernel_target.h). All units compute the same bits: every operation is rounded by itself (no fused
// multiply-add, no approximate division or root), and a sum over values has 16 fixed lanes for any vector
// width. Only the bits of a NaN may differ. docs/decisions/0015 gives the reasons.
//
// Except for the sums over values, each kernel works element by element. So a caller may decode and pass a
// block piece by piece: the bits equal those of one call for all.
#pragma once

#include <span>

namespace leeway::kernels {

[[nodiscard]] bool AllFinite(std::span<const float> x);
// acc += s * x. Returns whether all of x is finite.
bool AddScaled(std::span<float> acc, std::span<const float> x, float s);
// out = acc + s * x, with x read once. Returns whether all of x is finite; the sum may still overflow.
[[nodiscard]] bool AddScaledInto(std::span<float> out, std::span<const float> acc, std::span<const float> x,
                                 float s);
// out = s * x. Returns whether all of out is finite.
bool ScaleInto(std::span<float> out, std::span<const float> x, float s);
// x *= s
void Scale(std::span<float> x, float s);
// out = a + b. Returns whether all of out is finite.
[[nodiscard]] bool Add(std::span<float> out, std::span<const float> a, std::span<const float> b);
// out = scale * (weights[0] * inputs[0] + weights[1] * inputs[1] + ...), added from left to right, in one
// pass over out. Every input has as many values as out. Returns whether all of out is finite. REQUIRES: at
// least one input, as many weights.
[[nodiscard]] bool MeanInto(std::span<float> out, std::span<const float* const> inputs,
                            std::span<const float> weights, float scale);
// out = g + lambda * g * g * (w - base): moves the gradient at `base` to `w`, to first order, with g * g for
// the diagonal of the Hessian (DC-ASGD). Returns whether all of out is finite.
[[nodiscard]] bool Compensate(std::span<float> out, float lambda, std::span<const float> g,
                              std::span<const float> w, std::span<const float> base);

// The sum of x * x, in double: value i goes to lane i % 16, and the lanes are added as a tree. Infinite or
// NaN if a value is.
[[nodiscard]] double SumOfSquares(std::span<const float> x);

// The steps of optimizers, each in one pass. They return whether all they wrote is finite.

// w_out = w - lr * (g * g_scale + decay * w)
struct SgdStep {
  float g_scale, lr, decay;
};
[[nodiscard]] bool Sgd(const SgdStep& step, std::span<const float> w, std::span<const float> g,
                       std::span<float> w_out);

// torch.optim.SGD with momentum: buf = mu * buf + keep * grad, then w -= lr * buf, or nesterov's grad + mu *
// buf. grad = (g * g_scale + decay * w) * trust; trust is 1 but for lars.
struct MomentumStep {
  float g_scale, lr, decay, mu;
  float keep;  // 1 - dampening
  float trust;
  bool first;  // buf = grad, undampened; the step ignores the old buffer
  bool nesterov;
};
[[nodiscard]] bool Momentum(const MomentumStep& step, std::span<const float> w, std::span<const float> g,
                            std::span<const float> buf, std::span<float> w_out, std::span<float> buf_out);

// torch.optim.Adam: grad = g * g_scale + decay * (w * shrink); m, v as usual;
// w_out = w * shrink - step_size * m / (sqrt(v) / root_bc2 + eps). AdamW is decay = 0 and shrink = 1 - lr *
// weight_decay.
struct AdamStep {
  float g_scale, decay, shrink;
  float beta1, keep1, beta2, keep2;  // keep = 1 - beta
  float step_size, root_bc2, eps;
};
[[nodiscard]] bool Adam(const AdamStep& step, std::span<const float> w, std::span<const float> g,
                        std::span<const float> m, std::span<const float> v, std::span<float> w_out,
                        std::span<float> m_out, std::span<float> v_out);

// torch.optim.Adagrad: sum += grad * grad, w -= lr * grad / (sqrt(sum) + eps), grad = g * g_scale + decay *
// w.
struct AdagradStep {
  float g_scale, lr, decay, eps;
};
[[nodiscard]] bool Adagrad(const AdagradStep& step, std::span<const float> w, std::span<const float> g,
                           std::span<const float> sum, std::span<float> w_out, std::span<float> sum_out);

// torch.optim.RMSprop: square = alpha * square + keep * grad * grad; with `mean` (centered) mean = alpha *
// mean + keep * grad, and square - mean * mean in place of square under the root; move = grad / (sqrt(square)
// + eps); with `buf` (momentum) buf = mu * buf + move, and buf in place of move; w -= lr * move. Rounding may
// take square - mean * mean below zero, as in torch; the result is then not finite.
struct RmspropStep {
  float g_scale, lr, decay, alpha, keep, eps, mu;
};
// `mean` and `buf` are empty, in and out, unless centered or momentum needs them.
struct RmspropState {
  std::span<const float> square, mean, buf;
};
struct RmspropOutput {
  std::span<float> w, square, mean, buf;
};
[[nodiscard]] bool Rmsprop(const RmspropStep& step, std::span<const float> w, std::span<const float> g,
                           const RmspropState& state, const RmspropOutput& out);

}  // namespace leeway::kernels
