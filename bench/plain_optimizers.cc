#include "plain_optimizers.h"

namespace leeway::bench {
namespace {

void PlainSum(const PlainHyper&, const PlainArrays& a) {
  const float* __restrict w = a.w;
  const float* __restrict g = a.g;
  float* __restrict w_out = a.w_out;
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) w_out[i] = w[i] + g[i];
}

void PlainMean(const PlainHyper& h, const PlainArrays& a) {
  const float* __restrict g = a.g;
  float* __restrict w_out = a.w_out;
  const float scale = h.g_scale;
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) w_out[i] = g[i] * scale;
}

void PlainSgd(const PlainHyper& hyper, const PlainArrays& a) {
  const PlainHyper h = hyper;
  const float* __restrict w = a.w;
  const float* __restrict g = a.g;
  float* __restrict w_out = a.w_out;
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) w_out[i] = w[i] - h.lr * (g[i] * h.g_scale + h.decay * w[i]);
}

template <bool kNesterov>
void Moment(const PlainHyper& hyper, const PlainArrays& a, float trust) {
  const PlainHyper h = hyper;
  const float* __restrict w = a.w;
  const float* __restrict g = a.g;
  const float* __restrict buf = a.slots[0];
  float* __restrict w_out = a.w_out;
  float* __restrict buf_out = a.slots_out[0];
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) {
    const float grad = (g[i] * h.g_scale + h.decay * w[i]) * trust;
    const float next = h.momentum * buf[i] + grad;
    buf_out[i] = next;
    w_out[i] = w[i] - h.lr * (kNesterov ? grad + h.momentum * next : next);
  }
}

void PlainMomentum(const PlainHyper& h, const PlainArrays& a) { Moment<false>(h, a, 1.0F); }
void PlainNesterov(const PlainHyper& h, const PlainArrays& a) { Moment<true>(h, a, 1.0F); }

void PlainLars(const PlainHyper& h, const PlainArrays& a) {
  double ww = 0, gg = 0;
  const float *w = a.w, *g = a.g;
#pragma omp simd reduction(+ : ww, gg)
  for (std::size_t i = 0; i < a.n; ++i) {
    ww += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    gg += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  }
  const double w_norm = __builtin_sqrt(ww), g_norm = __builtin_sqrt(gg) * static_cast<double>(h.g_scale);
  const double below = g_norm + static_cast<double>(h.decay) * w_norm + static_cast<double>(h.eps);
  Moment<false>(h, a, static_cast<float>(static_cast<double>(h.trust) * w_norm / below));
}

template <bool kDecoupled>
void AdamOf(const PlainHyper& hyper, const PlainArrays& a) {
  const PlainHyper h = hyper;
  const float* __restrict w = a.w;
  const float* __restrict g = a.g;
  const float* __restrict m = a.slots[0];
  const float* __restrict v = a.slots[1];
  float* __restrict w_out = a.w_out;
  float* __restrict m_out = a.slots_out[0];
  float* __restrict v_out = a.slots_out[1];
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) {
    const float kept = kDecoupled ? w[i] * h.shrink : w[i];
    const float grad = kDecoupled ? g[i] * h.g_scale : g[i] * h.g_scale + h.decay * w[i];
    const float mean = h.momentum * m[i] + (1.0F - h.momentum) * grad;
    const float square = h.beta2 * v[i] + (1.0F - h.beta2) * grad * grad;
    m_out[i] = mean;
    v_out[i] = square;
    w_out[i] = kept - h.step_size * (mean / (__builtin_sqrtf(square) / h.root_bc2 + h.eps));
  }
}

void PlainAdagrad(const PlainHyper& hyper, const PlainArrays& a) {
  const PlainHyper h = hyper;
  const float* __restrict w = a.w;
  const float* __restrict g = a.g;
  const float* __restrict sum = a.slots[0];
  float* __restrict w_out = a.w_out;
  float* __restrict sum_out = a.slots_out[0];
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) {
    const float grad = g[i] * h.g_scale + h.decay * w[i];
    const float squares = sum[i] + grad * grad;
    sum_out[i] = squares;
    w_out[i] = w[i] - h.lr * grad / (__builtin_sqrtf(squares) + h.eps);
  }
}

template <bool kCentered, bool kMomentum>
void RmspropOf(const PlainHyper& hyper, const PlainArrays& a) {
  const PlainHyper h = hyper;
  const float* __restrict w = a.w;
  const float* __restrict g = a.g;
  const float* __restrict square = a.slots[0];
  const float* __restrict mean = a.slots[1];
  const float* __restrict buf = a.slots[kCentered ? 2 : 1];
  float* __restrict w_out = a.w_out;
  float* __restrict square_out = a.slots_out[0];
  float* __restrict mean_out = a.slots_out[1];
  float* __restrict buf_out = a.slots_out[kCentered ? 2 : 1];
#pragma omp simd
  for (std::size_t i = 0; i < a.n; ++i) {
    const float grad = g[i] * h.g_scale + h.decay * w[i];
    const float squares = h.beta2 * square[i] + (1.0F - h.beta2) * grad * grad;
    square_out[i] = squares;
    float spread = squares;
    if constexpr (kCentered) {
      const float next = h.beta2 * mean[i] + (1.0F - h.beta2) * grad;
      mean_out[i] = next;
      spread = squares - next * next;
    }
    float move = grad / (__builtin_sqrtf(spread) + h.eps);
    if constexpr (kMomentum) {
      move = h.momentum * buf[i] + move;
      buf_out[i] = move;
    }
    w_out[i] = w[i] - h.lr * move;
  }
}

}  // namespace

const PlainOptimizer kPlainOptimizers[] = {
    {"adagrad", PlainAdagrad},
    {"adam", AdamOf<false>},
    {"adamw", AdamOf<true>},
    {"lars", PlainLars},
    {"mean", PlainMean},
    {"momentum", PlainMomentum},
    {"nesterov", PlainNesterov},
    {"rmsprop", RmspropOf<false, false>},
    {"rmsprop:momentum=1", RmspropOf<false, true>},
    {"rmsprop:centered=1", RmspropOf<true, false>},
    {"rmsprop:centered=1,momentum=1", RmspropOf<true, true>},
    {"sgd", PlainSgd},
    {"sum", PlainSum},
};
const std::size_t kPlainOptimizersCount = sizeof(kPlainOptimizers) / sizeof(kPlainOptimizers[0]);

const char* const kPlainNeeds[] = {
#ifdef __SSE4_2__
    "sse4.2",
#endif
#ifdef __AVX__
    "avx",
#endif
#ifdef __FMA__
    "fma",
#endif
#ifdef __BMI2__
    "bmi2",
#endif
#ifdef __AVX2__
    "avx2",
#endif
#ifdef __AVX512F__
    "avx512f",
#endif
#ifdef __AVX512DQ__
    "avx512dq",
#endif
#ifdef __AVX512BW__
    "avx512bw",
#endif
#ifdef __AVX512VL__
    "avx512vl",
#endif
    nullptr};
const std::size_t kPlainNeedsCount = sizeof(kPlainNeeds) / sizeof(kPlainNeeds[0]) - 1;

}  // namespace leeway::bench
