// Which vector unit the kernels run on. Chosen by the processor; tests and benches may choose another.
#pragma once

#include <string>
#include <vector>

namespace leeway::kernels {

// Of those compiled in, the ones that this processor has, the best first ("AVX3", "AVX2", ..., "SCALAR" or
// "EMU128", which are plain C++).
[[nodiscard]] std::vector<std::string> Targets();
// The one in use.
[[nodiscard]] std::string Target();
// From now on, in all threads; "" is the processor's choice again. Returns whether there is such a target.
// For tests and benches: nothing else may run a kernel meanwhile.
bool UseTarget(const std::string& name);

}  // namespace leeway::kernels
