// Huge pages for the heap of a command that simulates.
//
// A simulated job of a thousand workers looks at its memory in no order, and a page that the processor has
// forgotten costs as much as a line that is not in its cache. The C library asks the kernel for huge pages
// only if it is told so before a process starts (GLIBC_TUNABLES), so the program starts itself anew, once.
// Who sets the variable, to whatever, is left alone.
#pragma once

#include <string>
#include <vector>

#include "launch/environment.h"

namespace leeway::app {

// Whether these words are of a command that gains by it, and nobody has set the variable.
[[nodiscard]] bool WantsHugePages(const std::vector<std::string>& words, const Environment& environment);

// Starts this program anew with them. Comes back only if that cannot be done: nothing is lost but time.
void StartInHugePages(const Program& program, char* const* argv);

}  // namespace leeway::app
