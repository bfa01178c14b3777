// The kernels that add and scale.
#include "base/check.h"
#include "optimizer/kernel_set.h"
#include "optimizer/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels_sum.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "optimizer/kernel_loop.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::kernels::HWY_NAMESPACE {

struct AllFiniteBody {
  const float* x;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    return NonFiniteBits(d, hn::LoadU(d, x + i));
  }
};
bool AllFiniteLoop(std::span<const float> x) { return ForAll(AllFiniteBody{x.data()}, x.size()); }

struct AddScaledBody {
  float* out;
  const float* acc;
  const float* x;
  float s;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto added = hn::LoadU(d, x + i);
    hn::StoreU(hn::Add(hn::LoadU(d, acc + i), hn::Mul(hn::Set(d, s), added)), d, out + i);
    return NonFiniteBits(d, added);
  }
};
bool AddScaledLoop(std::span<float> out, std::span<const float> acc, std::span<const float> x, float s) {
  return ForAll(AddScaledBody{out.data(), acc.data(), x.data(), s}, out.size());
}

struct ScaleBody {
  float* out;
  const float* x;
  float s;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto value = hn::Mul(hn::Set(d, s), hn::LoadU(d, x + i));
    hn::StoreU(value, d, out + i);
    return NonFiniteBits(d, value);
  }
};
bool ScaleLoop(std::span<float> out, std::span<const float> x, float s) {
  return ForAll(ScaleBody{out.data(), x.data(), s}, out.size());
}

struct AddBody {
  float* out;
  const float* a;
  const float* b;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto value = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    hn::StoreU(value, d, out + i);
    return NonFiniteBits(d, value);
  }
};
bool AddLoop(std::span<float> out, std::span<const float> a, std::span<const float> b) {
  return ForAll(AddBody{out.data(), a.data(), b.data()}, out.size());
}

struct CompensateBody {
  float* out;
  float lambda;
  const float* g;
  const float* w;
  const float* base;
  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    const auto grad = hn::LoadU(d, g + i);
    const auto moved = hn::Sub(hn::LoadU(d, w + i), hn::LoadU(d, base + i));
    const auto value = hn::Add(grad, hn::Mul(hn::Mul(hn::Mul(hn::Set(d, lambda), grad), grad), moved));
    hn::StoreU(value, d, out + i);
    return NonFiniteBits(d, value);
  }
};
bool CompensateLoop(std::span<float> out, float lambda, std::span<const float> g, std::span<const float> w,
                    std::span<const float> base) {
  return ForAll(CompensateBody{out.data(), lambda, g.data(), w.data(), base.data()}, out.size());
}

// Walks the inputs four vectors at a time, so that their pointers are read once per four.
struct MeanBody {
  float* out;
  const float* const* inputs;
  const float* weights;
  std::size_t count;
  float scale;

  template <class D>
  HWY_INLINE auto operator()(D d, std::size_t i) const {
    auto sum = hn::Mul(hn::Set(d, weights[0]), hn::LoadU(d, inputs[0] + i));
    for (std::size_t k = 1; k < count; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Set(d, weights[k]), hn::LoadU(d, inputs[k] + i)));
    const auto value = hn::Mul(hn::Set(d, scale), sum);
    hn::StoreU(value, d, out + i);
    return NonFiniteBits(d, value);
  }

  template <class D>
  HWY_INLINE auto Four(D d, std::size_t i) const {
    const std::size_t lanes = hn::Lanes(d);
    const float* x = inputs[0] + i;
    auto weight = hn::Set(d, weights[0]);
    auto a = hn::Mul(weight, hn::LoadU(d, x)), b = hn::Mul(weight, hn::LoadU(d, x + lanes)),
         c = hn::Mul(weight, hn::LoadU(d, x + 2 * lanes)), e = hn::Mul(weight, hn::LoadU(d, x + 3 * lanes));
    for (std::size_t k = 1; k < count; ++k) {
      x = inputs[k] + i;
      weight = hn::Set(d, weights[k]);
      a = hn::Add(a, hn::Mul(weight, hn::LoadU(d, x)));
      b = hn::Add(b, hn::Mul(weight, hn::LoadU(d, x + lanes)));
      c = hn::Add(c, hn::Mul(weight, hn::LoadU(d, x + 2 * lanes)));
      e = hn::Add(e, hn::Mul(weight, hn::LoadU(d, x + 3 * lanes)));
    }
    const auto by = hn::Set(d, scale);
    a = hn::Mul(by, a);
    b = hn::Mul(by, b);
    c = hn::Mul(by, c);
    e = hn::Mul(by, e);
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + lanes);
    hn::StoreU(c, d, out + i + 2 * lanes);
    hn::StoreU(e, d, out + i + 3 * lanes);
    return hn::Or(hn::Or(NonFiniteBits(d, a), NonFiniteBits(d, b)),
                  hn::Or(NonFiniteBits(d, c), NonFiniteBits(d, e)));
  }
};
bool MeanLoop(std::span<float> out, std::span<const float* const> inputs, const float* weights, float scale) {
  const MeanBody body{out.data(), inputs.data(), weights, inputs.size(), scale};
  const hn::ScalableTag<float> d;
  const std::size_t four = 4 * hn::Lanes(d), n = out.size();
  auto bits = hn::Zero(hn::RebindToUnsigned<decltype(d)>());
  std::size_t i = 0;
  for (; i + four <= n; i += four) bits = hn::Or(bits, body.Four(d, i));
  const hn::CappedTag<float, 1> one;
  auto rest = hn::Zero(hn::RebindToUnsigned<decltype(one)>());
  for (; i < n; ++i) rest = hn::Or(rest, body(one, i));
  return NoneSet(d, bits) && NoneSet(one, rest);
}

}  // namespace leeway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::kernels {
namespace {

HWY_EXPORT(AllFiniteLoop);
HWY_EXPORT(AddScaledLoop);
HWY_EXPORT(ScaleLoop);
HWY_EXPORT(AddLoop);
HWY_EXPORT(CompensateLoop);
HWY_EXPORT(MeanLoop);

}  // namespace

bool AllFinite(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(AllFiniteLoop)(x); }

bool AddScaled(std::span<float> acc, std::span<const float> x, float s) {
  return HWY_DYNAMIC_DISPATCH(AddScaledLoop)(acc, acc, x, s);
}

bool AddScaledInto(std::span<float> out, std::span<const float> acc, std::span<const float> x, float s) {
  return HWY_DYNAMIC_DISPATCH(AddScaledLoop)(out, acc, x, s);
}

bool ScaleInto(std::span<float> out, std::span<const float> x, float s) {
  return HWY_DYNAMIC_DISPATCH(ScaleLoop)(out, x, s);
}

void Scale(std::span<float> x, float s) { HWY_DYNAMIC_DISPATCH(ScaleLoop)(x, x, s); }

bool Add(std::span<float> out, std::span<const float> a, std::span<const float> b) {
  return HWY_DYNAMIC_DISPATCH(AddLoop)(out, a, b);
}

bool MeanInto(std::span<float> out, std::span<const float* const> inputs, std::span<const float> weights,
              float scale) {
  LW_CHECK(!inputs.empty() && inputs.size() == weights.size(), "got {} inputs and {} weights", inputs.size(),
           weights.size());
  return HWY_DYNAMIC_DISPATCH(MeanLoop)(out, inputs, weights.data(), scale);
}

bool Compensate(std::span<float> out, float lambda, std::span<const float> g, std::span<const float> w,
                std::span<const float> base) {
  return HWY_DYNAMIC_DISPATCH(CompensateLoop)(out, lambda, g, w, base);
}

}  // namespace leeway::kernels
#endif
