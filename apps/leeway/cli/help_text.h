// Help as text: of the program, of a group of commands, of one command.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"

namespace leeway::app {

// The commands whose first word is `group`; all with an empty one (a group then shows as one line per
// command).
[[nodiscard]] std::string CommandsHelp(const ProgramText& program, const Commands& commands,
                                       const std::string& group);
[[nodiscard]] std::string CommandHelp(const ProgramText& program, const Command& command,
                                      const FlagSet& flags);

}  // namespace leeway::app
