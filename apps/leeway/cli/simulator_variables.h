// Variables that a command which simulates wants to have been set before its process began. So the program
// starts itself anew with them, once. The program keeps a variable that the user has
// set.
//
//   GLIBC_TUNABLES      huge pages for the heap. A simulated job of a thousand workers looks at its memory in
//                       no order, and a page that the processor has forgotten costs as much as a line that is
//                       not in its cache. The C library can be told of it in no other way.
//   OPENBLAS_CORETYPE   the same kernels on every processor that can run them. OpenBLAS takes those that fit
//                       the one it finds, and each kind adds up in another order: the same seed would give
//                       other digits on another machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "system/environment.h"

namespace leeway::app {

// Whether this processor can run the kernels that all are to take (AVX2 and fused multiply-add).
[[nodiscard]] bool HasCommonKernels();

// The environment to start again with. Nothing: the command does not simulate, or all variables are set.
[[nodiscard]] std::optional<Environment> SimulatorVariables(const std::vector<std::string>& words,
                                                            const Environment& environment,
                                                            bool has_common_kernels);

// Comes back only if it cannot be done.
void StartAnew(const Program& program, char* const* argv, const Environment& environment);

}  // namespace leeway::app
