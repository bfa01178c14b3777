// HugePages: whether this process may have its heap in huge pages.
//
// A simulated job of a thousand workers looks at its memory in no order, and a page that the processor has
// forgotten costs as much as a line that is not in its cache. The C library asks the kernel for huge pages
// only if it is told so before a process starts (GLIBC_TUNABLES), so the program starts itself anew, once.
#pragma once

#include <string>
#include <vector>

namespace leeway::app {

// Starts this program anew with its heap in huge pages, if these words are of a command that gains by it. It
// comes back where that is so already, somebody has set the variable, or it cannot be done: nothing is lost
// but time.
void UseHugePages(const std::vector<std::string>& words, const std::string& executable, char** argv);

}  // namespace leeway::app
