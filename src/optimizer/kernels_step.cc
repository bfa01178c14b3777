// The kernels of optimizers' steps. Their flags are compile-time, so that a loop has no branch.
#include "optimizer/kernel_set.h"
#include "optimizer/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels_step.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "optimizer/kernel_loop.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::kernels::HWY_NAMESPACE {

using In = std::span<const float>;
using Out = std::span<float>;

// g * g_scale + decay * w
template <class D, class V>
HWY_INLINE V Gradient(D d, V g, float g_scale, V w, float decay) {
  return hn::Add(hn::Mul(g, hn::Set(d, g_scale)), hn::Mul(hn::Set(d, decay), w));
}

struct SgdBody {
  SgdStep s;
  const float *w, *g;
  float* w_out;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto before = hn::LoadU(d, w + i);
    const auto grad = Gradient(d, hn::LoadU(d, g + i), s.g_scale, before, s.decay);
    const auto value = hn::Sub(before, hn::Mul(hn::Set(d, s.lr), grad));
    hn::StoreU(value, d, w_out + i);
    return NonFiniteBits(d, value);
  }
};
bool SgdLoop(const SgdStep& s, In w, In g, Out w_out) {
  return ForAll(SgdBody{s, w.data(), g.data(), w_out.data()}, w_out.size());
}

template <bool kFirst, bool kNesterov>
struct MomentumBody {
  MomentumStep s;
  const float *w, *g, *buf;
  float *w_out, *buf_out;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto before = hn::LoadU(d, w + i);
    const auto mu = hn::Set(d, s.mu);
    const auto grad =
        hn::Mul(Gradient(d, hn::LoadU(d, g + i), s.g_scale, before, s.decay), hn::Set(d, s.trust));
    auto next = grad;
    if constexpr (!kFirst)
      next = hn::Add(hn::Mul(mu, hn::LoadU(d, buf + i)), hn::Mul(hn::Set(d, s.keep), grad));
    auto move = next;
    if constexpr (kNesterov) move = hn::Add(grad, hn::Mul(mu, next));
    const auto value = hn::Sub(before, hn::Mul(hn::Set(d, s.lr), move));
    hn::StoreU(next, d, buf_out + i);
    hn::StoreU(value, d, w_out + i);
    return hn::Or(NonFiniteBits(d, value), NonFiniteBits(d, next));
  }
};
template <bool kFirst, bool kNesterov>
bool MomentumOf(const MomentumStep& s, In w, In g, In buf, Out w_out, Out buf_out) {
  return ForAll(
      MomentumBody<kFirst, kNesterov>{s, w.data(), g.data(), buf.data(), w_out.data(), buf_out.data()},
      w_out.size());
}
bool MomentumLoop(const MomentumStep& s, In w, In g, In buf, Out w_out, Out buf_out) {
  if (s.first) {
    return s.nesterov ? MomentumOf<true, true>(s, w, g, buf, w_out, buf_out)
                      : MomentumOf<true, false>(s, w, g, buf, w_out, buf_out);
  }
  return s.nesterov ? MomentumOf<false, true>(s, w, g, buf, w_out, buf_out)
                    : MomentumOf<false, false>(s, w, g, buf, w_out, buf_out);
}

struct AdamBody {
  AdamStep s;
  const float *w, *g, *m, *v;
  float *w_out, *m_out, *v_out;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto kept = hn::Mul(hn::LoadU(d, w + i), hn::Set(d, s.shrink));
    const auto grad = Gradient(d, hn::LoadU(d, g + i), s.g_scale, kept, s.decay);
    const auto mean =
        hn::Add(hn::Mul(hn::Set(d, s.beta1), hn::LoadU(d, m + i)), hn::Mul(hn::Set(d, s.keep1), grad));
    const auto square = hn::Add(hn::Mul(hn::Set(d, s.beta2), hn::LoadU(d, v + i)),
                                hn::Mul(hn::Mul(hn::Set(d, s.keep2), grad), grad));
    const auto root = hn::Add(hn::Div(hn::Sqrt(square), hn::Set(d, s.root_bc2)), hn::Set(d, s.eps));
    const auto value = hn::Sub(kept, hn::Mul(hn::Set(d, s.step_size), hn::Div(mean, root)));
    hn::StoreU(mean, d, m_out + i);
    hn::StoreU(square, d, v_out + i);
    hn::StoreU(value, d, w_out + i);
    return hn::Or(NonFiniteBits(d, value), hn::Or(NonFiniteBits(d, mean), NonFiniteBits(d, square)));
  }
};
bool AdamLoop(const AdamStep& s, In w, In g, In m, In v, Out w_out, Out m_out, Out v_out) {
  return ForAll(AdamBody{s, w.data(), g.data(), m.data(), v.data(), w_out.data(), m_out.data(), v_out.data()},
                w_out.size());
}

struct AdagradBody {
  AdagradStep s;
  const float *w, *g, *sum;
  float *w_out, *sum_out;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto before = hn::LoadU(d, w + i);
    const auto grad = Gradient(d, hn::LoadU(d, g + i), s.g_scale, before, s.decay);
    const auto squares = hn::Add(hn::LoadU(d, sum + i), hn::Mul(grad, grad));
    const auto root = hn::Add(hn::Sqrt(squares), hn::Set(d, s.eps));
    const auto value = hn::Sub(before, hn::Mul(hn::Set(d, s.lr), hn::Div(grad, root)));
    hn::StoreU(squares, d, sum_out + i);
    hn::StoreU(value, d, w_out + i);
    return hn::Or(NonFiniteBits(d, value), NonFiniteBits(d, squares));
  }
};
bool AdagradLoop(const AdagradStep& s, In w, In g, In sum, Out w_out, Out sum_out) {
  return ForAll(AdagradBody{s, w.data(), g.data(), sum.data(), w_out.data(), sum_out.data()}, w_out.size());
}

template <bool kCentered, bool kMomentum>
struct RmspropBody {
  RmspropStep s;
  const float *w, *g, *square, *mean, *buf;
  float *w_out, *square_out, *mean_out, *buf_out;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto before = hn::LoadU(d, w + i);
    const auto alpha = hn::Set(d, s.alpha), keep = hn::Set(d, s.keep);
    const auto grad = Gradient(d, hn::LoadU(d, g + i), s.g_scale, before, s.decay);
    const auto squares =
        hn::Add(hn::Mul(alpha, hn::LoadU(d, square + i)), hn::Mul(hn::Mul(keep, grad), grad));
    hn::StoreU(squares, d, square_out + i);
    auto bits = NonFiniteBits(d, squares);
    auto spread = squares;
    if constexpr (kCentered) {
      const auto next = hn::Add(hn::Mul(alpha, hn::LoadU(d, mean + i)), hn::Mul(keep, grad));
      hn::StoreU(next, d, mean_out + i);
      bits = hn::Or(bits, NonFiniteBits(d, next));
      spread = hn::Sub(squares, hn::Mul(next, next));
    }
    auto move = hn::Div(grad, hn::Add(hn::Sqrt(spread), hn::Set(d, s.eps)));
    if constexpr (kMomentum) {
      move = hn::Add(hn::Mul(hn::Set(d, s.mu), hn::LoadU(d, buf + i)), move);
      hn::StoreU(move, d, buf_out + i);
      bits = hn::Or(bits, NonFiniteBits(d, move));
    }
    const auto value = hn::Sub(before, hn::Mul(hn::Set(d, s.lr), move));
    hn::StoreU(value, d, w_out + i);
    return hn::Or(bits, NonFiniteBits(d, value));
  }
};
template <bool kCentered, bool kMomentum>
bool RmspropOf(const RmspropStep& s, In w, In g, const RmspropState& in, const RmspropOutput& out) {
  return ForAll(RmspropBody<kCentered, kMomentum>{s, w.data(), g.data(), in.square.data(), in.mean.data(),
                                                  in.buf.data(), out.w.data(), out.square.data(),
                                                  out.mean.data(), out.buf.data()},
                out.w.size());
}
bool RmspropLoop(const RmspropStep& s, In w, In g, const RmspropState& in, const RmspropOutput& out) {
  if (out.mean.empty()) {
    return out.buf.empty() ? RmspropOf<false, false>(s, w, g, in, out)
                           : RmspropOf<false, true>(s, w, g, in, out);
  }
  return out.buf.empty() ? RmspropOf<true, false>(s, w, g, in, out) : RmspropOf<true, true>(s, w, g, in, out);
}

}  // namespace leeway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::kernels {
namespace {

HWY_EXPORT(SgdLoop);
HWY_EXPORT(MomentumLoop);
HWY_EXPORT(AdamLoop);
HWY_EXPORT(AdagradLoop);
HWY_EXPORT(RmspropLoop);

}  // namespace

bool Sgd(const SgdStep& step, std::span<const float> w, std::span<const float> g, std::span<float> w_out) {
  return HWY_DYNAMIC_DISPATCH(SgdLoop)(step, w, g, w_out);
}

bool Momentum(const MomentumStep& step, std::span<const float> w, std::span<const float> g,
              std::span<const float> buf, std::span<float> w_out, std::span<float> buf_out) {
  return HWY_DYNAMIC_DISPATCH(MomentumLoop)(step, w, g, buf, w_out, buf_out);
}

bool Adam(const AdamStep& step, std::span<const float> w, std::span<const float> g, std::span<const float> m,
          std::span<const float> v, std::span<float> w_out, std::span<float> m_out, std::span<float> v_out) {
  return HWY_DYNAMIC_DISPATCH(AdamLoop)(step, w, g, m, v, w_out, m_out, v_out);
}

bool Adagrad(const AdagradStep& step, std::span<const float> w, std::span<const float> g,
             std::span<const float> sum, std::span<float> w_out, std::span<float> sum_out) {
  return HWY_DYNAMIC_DISPATCH(AdagradLoop)(step, w, g, sum, w_out, sum_out);
}

bool Rmsprop(const RmspropStep& step, std::span<const float> w, std::span<const float> g,
             const RmspropState& state, const RmspropOutput& out) {
  return HWY_DYNAMIC_DISPATCH(RmspropLoop)(step, w, g, state, out);
}

}  // namespace leeway::kernels
#endif
