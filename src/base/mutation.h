// Mutations: rules that a test breaks on purpose, one at a time, to see that other tests notice.
//
// Only a build with LEEWAY_MUTATIONS contains them; each stays inactive until a test program names it. `make
// mutants` runs each of them against the simulated workloads.
#pragma once

#ifdef LEEWAY_MUTATIONS

#include <string_view>

namespace leeway {

inline std::string_view active_mutation;  // set by the test program before anything else

}  // namespace leeway

#define LW_MUTATED(name) (::leeway::active_mutation == #name)

#else

#define LW_MUTATED(name) false

#endif
