// The loop that the kernels share, compiled once for every vector unit: whole vectors, then single values
// with the same code on vectors of one. No pragma once: Highway includes this file anew for each unit.
#if defined(LEEWAY_OPTIMIZER_KERNEL_LOOP_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LEEWAY_OPTIMIZER_KERNEL_LOOP_H
#undef LEEWAY_OPTIMIZER_KERNEL_LOOP_H
#else
#define LEEWAY_OPTIMIZER_KERNEL_LOOP_H
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Sets the top bit exactly where all exponent bits of x are set, that is for infinities and NaNs: the
// addition carries into it. ORed over a loop it costs three integer operations per vector and no branch.
template <class D, class V>
HWY_INLINE auto NonFiniteBits(D /*d*/, V x) {
  const hn::RebindToUnsigned<D> du;
  return hn::Add(hn::And(hn::BitCast(du, x), hn::Set(du, 0x7FFF'FFFFU)), hn::Set(du, 0x0080'0000U));
}

template <class D, class V>
HWY_INLINE bool NoneSet(D /*d*/, V bits) {
  const hn::RebindToSigned<D> di;
  return hn::AllFalse(di, hn::Lt(hn::BitCast(di, bits), hn::Zero(di)));
}

// body(d, i) computes the values of vector `d` from the i-th on, stores them and returns their NonFiniteBits.
// It is a class, because Highway's target attributes do not reach into lambdas everywhere. Returns whether
// all values are finite.
template <class Body>
HWY_INLINE bool ForAll(const Body body, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto bits = hn::Zero(hn::RebindToUnsigned<decltype(d)>());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) bits = hn::Or(bits, body(d, i));
  const hn::CappedTag<float, 1> one;
  auto rest = hn::Zero(hn::RebindToUnsigned<decltype(one)>());
  for (; i < n; ++i) rest = hn::Or(rest, body(one, i));
  return NoneSet(d, bits) && NoneSet(one, rest);
}

}  // namespace leeway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
