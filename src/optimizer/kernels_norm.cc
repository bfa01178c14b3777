// The kernels that reduce.
#include <array>

#include "optimizer/kernel_set.h"
#include "optimizer/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizer/kernels_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h.
#include "optimizer/kernel_loop.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::kernels::HWY_NAMESPACE {

// A square of a float is exact in double, and the sum of 2^40 of them cannot overflow.
double SumOfSquaresLoop(std::span<const float> x) {
  constexpr std::size_t kLanes = 16;
  using D = hn::CappedTag<double, kLanes>;
  const D d;
  const hn::Rebind<float, D> from;
  constexpr std::size_t kWidth = hn::MaxLanes(D()), kVectors = kLanes / kWidth;
  static_assert(kLanes % kWidth == 0);

  hn::Vec<D> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      const auto value = hn::PromoteTo(d, hn::LoadU(from, x.data() + i + j * kWidth));
      sums[j] = hn::Add(sums[j], hn::Mul(value, value));
    }
  }
  std::array<double, kLanes> lanes;
  for (std::size_t j = 0; j < kVectors; ++j) hn::StoreU(sums[j], d, lanes.data() + j * kWidth);
  for (std::size_t lane = 0; i < x.size(); ++i, ++lane) {
    const auto value = static_cast<double>(x[i]);
    lanes[lane] += value * value;
  }
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace leeway::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::kernels {
namespace {

HWY_EXPORT(SumOfSquaresLoop);

}  // namespace

double SumOfSquares(std::span<const float> x) { return HWY_DYNAMIC_DISPATCH(SumOfSquaresLoop)(x); }

}  // namespace leeway::kernels
#endif
