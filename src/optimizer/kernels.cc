// Compiled with -O3 (see CMakeLists.txt): at -O2 g++ 12 does not vectorize loops of unknown length.
#include "optimizer/kernels.h"

#include <bit>
#include <cmath>
#include <cstddef>

namespace leeway::kernels {
namespace {

// Carries into the top bit exactly when all exponent bits are set, that is for infinities and NaNs. ORed over
// a loop it costs three integer operations per vector and no branch.
inline std::uint32_t NonFiniteBit(float x) {
  return (std::bit_cast<std::uint32_t>(x) & 0x7FFF'FFFFU) + 0x0080'0000U;
}
inline bool NoneSet(std::uint32_t bits) { return (bits & 0x8000'0000U) == 0; }

// `kFirst` and `kNesterov` are compile-time, so that the loop has no branch.
template <bool kFirst, bool kNesterov>
bool MomentumLoop(const MomentumStep& step, std::size_t n, const float* __restrict w,
                  const float* __restrict g, const float* __restrict buf, float* __restrict w_out,
                  float* __restrict buf_out) {
  const float g_scale = step.g_scale, lr = step.lr, decay = step.decay, mu = step.mu, keep = step.keep;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float grad = g[i] * g_scale + decay * w[i];
    const float next = kFirst ? grad : mu * buf[i] + keep * grad;
    const float move = kNesterov ? grad + mu * next : next;
    const float value = w[i] - lr * move;
    buf_out[i] = next;
    w_out[i] = value;
    bits |= NonFiniteBit(value) | NonFiniteBit(next);
  }
  return NoneSet(bits);
}

}  // namespace

bool AllFinite(std::span<const float> x) {
  const float* __restrict p = x.data();
  const std::size_t n = x.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) bits |= NonFiniteBit(p[i]);
  return NoneSet(bits);
}

void AddScaled(std::span<float> acc, std::span<const float> x, float s) {
  float* __restrict a = acc.data();
  const float* __restrict p = x.data();
  const std::size_t n = acc.size();
  for (std::size_t i = 0; i < n; ++i) a[i] += s * p[i];
}

bool AddScaledInto(std::span<float> out, std::span<const float> acc, std::span<const float> x, float s) {
  float* __restrict o = out.data();
  const float* __restrict a = acc.data();
  const float* __restrict p = x.data();
  const std::size_t n = out.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    o[i] = a[i] + s * p[i];
    bits |= NonFiniteBit(p[i]);
  }
  return NoneSet(bits);
}

bool ScaleInto(std::span<float> out, std::span<const float> x, float s) {
  float* __restrict o = out.data();
  const float* __restrict p = x.data();
  const std::size_t n = out.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = s * p[i];
    o[i] = value;
    bits |= NonFiniteBit(value);
  }
  return NoneSet(bits);
}

void Scale(std::span<float> x, float s) {
  float* __restrict p = x.data();
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) p[i] *= s;
}

bool Add(std::span<float> out, std::span<const float> a, std::span<const float> b) {
  float* __restrict o = out.data();
  const float* __restrict p = a.data();
  const float* __restrict q = b.data();
  const std::size_t n = out.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = p[i] + q[i];
    o[i] = value;
    bits |= NonFiniteBit(value);
  }
  return NoneSet(bits);
}

bool Compensate(std::span<float> out, float lambda, std::span<const float> g, std::span<const float> w,
                std::span<const float> base) {
  float* __restrict o = out.data();
  const float* __restrict pg = g.data();
  const float* __restrict pw = w.data();
  const float* __restrict pb = base.data();
  const std::size_t n = out.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = pg[i] + lambda * pg[i] * pg[i] * (pw[i] - pb[i]);
    o[i] = value;
    bits |= NonFiniteBit(value);
  }
  return NoneSet(bits);
}

bool Sgd(const SgdStep& step, std::span<const float> w, std::span<const float> g, std::span<float> w_out) {
  const float* __restrict pw = w.data();
  const float* __restrict pg = g.data();
  float* __restrict o = w_out.data();
  const float g_scale = step.g_scale, lr = step.lr, decay = step.decay;
  const std::size_t n = w_out.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float value = pw[i] - lr * (pg[i] * g_scale + decay * pw[i]);
    o[i] = value;
    bits |= NonFiniteBit(value);
  }
  return NoneSet(bits);
}

bool Momentum(const MomentumStep& step, std::span<const float> w, std::span<const float> g,
              std::span<const float> buf, std::span<float> w_out, std::span<float> buf_out) {
  const auto run = [&](auto loop) {
    return loop(step, w_out.size(), w.data(), g.data(), buf.data(), w_out.data(), buf_out.data());
  };
  if (step.first) return step.nesterov ? run(MomentumLoop<true, true>) : run(MomentumLoop<true, false>);
  return step.nesterov ? run(MomentumLoop<false, true>) : run(MomentumLoop<false, false>);
}

bool Adam(const AdamStep& step, std::span<const float> w, std::span<const float> g, std::span<const float> m,
          std::span<const float> v, std::span<float> w_out, std::span<float> m_out, std::span<float> v_out) {
  const float* __restrict pw = w.data();
  const float* __restrict pg = g.data();
  const float* __restrict pm = m.data();
  const float* __restrict pv = v.data();
  float* __restrict ow = w_out.data();
  float* __restrict om = m_out.data();
  float* __restrict ov = v_out.data();
  const AdamStep s = step;
  const std::size_t n = w_out.size();
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float kept = pw[i] * s.shrink;
    const float grad = pg[i] * s.g_scale + s.decay * kept;
    const float mean = s.beta1 * pm[i] + s.keep1 * grad;
    const float square = s.beta2 * pv[i] + s.keep2 * grad * grad;
    const float value = kept - s.step_size * (mean / (std::sqrt(square) / s.root_bc2 + s.eps));
    om[i] = mean;
    ov[i] = square;
    ow[i] = value;
    bits |= NonFiniteBit(value) | NonFiniteBit(mean) | NonFiniteBit(square);
  }
  return NoneSet(bits);
}

}  // namespace leeway::kernels
