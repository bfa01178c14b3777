#include "add_loop.h"

namespace leeway::bench {
namespace {

inline __attribute__((always_inline)) void Add(float* __restrict w, const float* __restrict g,
                                               std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) w[i] += g[i];
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void AddAvx2(float* w, const float* g, std::size_t n) { Add(w, g, n); }
#endif

void AddAnywhere(float* w, const float* g, std::size_t n) { Add(w, g, n); }

}  // namespace

void AddLoop(float* w, const float* g, std::size_t n) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return AddAvx2(w, g, n);
#endif
  AddAnywhere(w, g, n);
}

}  // namespace leeway::bench
