// The command line: finds the command that argv names, fills its flags and runs it.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace leeway::app {

inline constexpr int kFailedExitCode = 1;  // what was asked for was done, and came out wrong
inline constexpr int kUsageExitCode = 2;

struct ProgramText {
  std::string name;    // "leeway"
  std::string about;   // above the list of commands
  std::string lesson;  // below it
};

// `args` is argv without the program's name. Prints help to stdout and errors to stderr ("leeway run:
// --workers: got "x", wanted ..."); returns the exit code: that of the command, 0 after help, 2 for wrong
// usage.
[[nodiscard]] int RunCommandLine(const ProgramText& program, const Commands& commands,
                                 std::vector<std::string> args);

}  // namespace leeway::app
