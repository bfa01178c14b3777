// Kernels: the loops that run over every value of a block, as free functions on spans.
//
// All spans of one call have the same size and outputs overlap no input (but for `acc`, which is both). Every
// kernel is one pass, element by element, in a form that the compiler vectorizes without changing a bit: no
// reassociation, no contraction, and finiteness as an integer OR over exponent bits. So every machine
// computes the same bits.
#pragma once

#include <cstdint>
#include <span>

namespace leeway::kernels {

[[nodiscard]] bool AllFinite(std::span<const float> x);
// acc += s * x
void AddScaled(std::span<float> acc, std::span<const float> x, float s);
// out = acc + s * x. Returns whether all of x is finite.
[[nodiscard]] bool AddScaledInto(std::span<float> out, std::span<const float> acc, std::span<const float> x,
                                 float s);
// out = s * x. Returns whether all of out is finite.
bool ScaleInto(std::span<float> out, std::span<const float> x, float s);
// x *= s
void Scale(std::span<float> x, float s);
// out = a + b. Returns whether all of out is finite.
[[nodiscard]] bool Add(std::span<float> out, std::span<const float> a, std::span<const float> b);
// out = g + lambda * g * g * (w - base): the gradient at `base` as it would be at `w`, to first order, with g
// * g for the diagonal of the Hessian (DC-ASGD). Returns whether all of out is finite.
[[nodiscard]] bool Compensate(std::span<float> out, float lambda, std::span<const float> g,
                              std::span<const float> w, std::span<const float> base);

// w_out = w - lr * (g * g_scale + decay * w)
struct SgdStep {
  float g_scale, lr, decay;
};
[[nodiscard]] bool Sgd(const SgdStep& step, std::span<const float> w, std::span<const float> g,
                       std::span<float> w_out);

// torch.optim.SGD with momentum: buf = mu * buf + keep * grad, then w -= lr * buf, or nesterov's grad + mu *
// buf.
struct MomentumStep {
  float g_scale, lr, decay, mu;
  float keep;  // 1 - dampening; 1 in the first step, when torch takes buf = grad
  bool first;  // the buffer of the step before is not read
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

}  // namespace leeway::kernels
