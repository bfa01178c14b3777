// The vector unit that the kernels run on. The processor chooses it; tests and benches may choose another.
#pragma once

#include <string>
#include <vector>

namespace leeway::kernels {

// The compiled targets that this processor has, the best first ("AVX3", "AVX2", ..., "SCALAR" or "EMU128",
// which are plain C++).
[[nodiscard]] std::vector<std::string> Targets();
// The target in use.
[[nodiscard]] std::string Target();
// Selects a target for all threads from now on; "" is the processor's choice again. Returns false for an
// unknown target. For tests and benches. REQUIRES: no thread runs a kernel meanwhile.
bool UseTarget(const std::string& name);

}  // namespace leeway::kernels
