// The plain loops that the optimizers are measured against: the same steps, each as one would write it, left
// to the compiler, which is told that the arrays do not overlap (else it leaves the longer ones alone). They
// do not look for values that are not finite.
//
// They are built for the processor of the machine that builds them (CMakeLists.txt), so nothing of this file
// may be called before kPlainNeeds was looked at, and it has no inline function that another file could get
// linked instead of its own.
#pragma once

#include <cstddef>

namespace leeway::bench {

// One step over n values: arrays for the most state that an optimizer has.
struct PlainArrays {
  std::size_t n;
  const float *w, *g;
  const float* slots[3];
  float* w_out;
  float* slots_out[3];
};

struct PlainHyper {
  float g_scale, lr, decay, momentum, beta2, eps, trust;
  // Of adam: lr / (1 - beta1^t), sqrt(1 - beta2^t), 1 - lr * decay.
  float step_size, root_bc2, shrink;
};

struct PlainOptimizer {
  const char* spec;  // of the servers' optimizer that does the same
  void (*step)(const PlainHyper& hyper, const PlainArrays& arrays);
};

extern const PlainOptimizer kPlainOptimizers[];
extern const std::size_t kPlainOptimizersCount;
// Features of a processor, as __builtin_cpu_supports names them, and a nullptr behind them that is not
// counted.
extern const char* const kPlainNeeds[];
extern const std::size_t kPlainNeedsCount;

}  // namespace leeway::bench
