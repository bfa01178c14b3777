// WorkerProgram: what every worker of a job runs, found before anything is started.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"
#include "system/environment.h"

namespace leeway::app {

struct WorkerProgram {
  std::string program;            // a path
  std::vector<std::string> args;  // args[0] is the name that the process sees
};

// The Python that the build's package was made for. An error: the build has none.
[[nodiscard]] Result<std::string> PythonOfBuild(const Program& program);

// A command that begins with a script, NAME.py, is run by the Python of the build; any other is found as a
// shell finds it. REQUIRES: the command is not empty.
[[nodiscard]] Result<WorkerProgram> FindWorkerProgram(const Program& program,
                                                      const std::vector<std::string>& command);

// A hint for a script that `found` ran and that lacks a module which the Python of the build has; empty: it
// lacks none, or that Python ran it. `has_said`: whether the script's last lines contain a text.
[[nodiscard]] std::string PythonHint(const Program& program, const std::string& found,
                                     const std::function<bool(std::string_view)>& has_said);

// A hint for a script that refused a flag (as argparse does) which is one of `leeway run`; empty: it refused
// none of these.
[[nodiscard]] std::string FlagHint(const std::vector<std::string>& command,
                                   const std::function<bool(std::string_view)>& is_flag,
                                   const std::function<bool(std::string_view)>& has_said);

}  // namespace leeway::app
