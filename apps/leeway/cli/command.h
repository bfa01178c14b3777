// Command: one subcommand of the program. One .cc file each in command/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/flag_set.h"
#include "leeway/status.h"

namespace leeway::app {

class Command {
 public:
  virtual ~Command() = default;
  // "run"; or "bench pushpull": the second word is a command of the group "bench".
  [[nodiscard]] virtual std::string name() const = 0;
  // One line for the list of commands.
  [[nodiscard]] virtual std::string summary() const = 0;
  // The end of the help, after the flags: examples, and names that the flags take.
  [[nodiscard]] virtual std::string lesson() const = 0;
  // Called once, before Run. Targets are the command's own members.
  virtual void Declare(FlagSet& flags) = 0;
  // The exit code, or an error that the program prints and turns into one.
  virtual Result<int> Run() = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

}  // namespace leeway::app
