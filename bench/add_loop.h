// The plain loop that the limit is made of, in a file of its own: compiled with -O3.
#pragma once

#include <cstddef>

namespace leeway::bench {

// w[i] += g[i], with the widest registers that this processor has.
void AddLoop(float* w, const float* g, std::size_t n);

}  // namespace leeway::bench
