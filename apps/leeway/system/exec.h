// Exec: a process becomes another program.
#pragma once

#include <string>
#include <vector>

#include "system/environment.h"

namespace leeway::app {

// The strings as execve takes them, with a null at the end. Borrows them; execve changes none.
[[nodiscard]] std::vector<char*> ExecPointers(const std::vector<std::string>& strings);

// This process becomes the program anew, with these words after its name. Returns only if that fails: the
// exit code that a shell gives then.
[[nodiscard]] int Become(const Program& program, const std::vector<std::string>& words);

}  // namespace leeway::app
