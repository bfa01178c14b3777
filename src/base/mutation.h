// Mutations: rules that can be broken on purpose, one at a time, to see that the tests notice.
//
// A build with LEEWAY_MUTATIONS has them all, none of them active until a test program names one; any other
// build has none. `make mutants` runs every one of them against the simulated workloads.
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
