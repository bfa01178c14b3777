#include "launch/worker_program.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "system/text_file.h"

namespace leeway::app {

Result<std::string> PythonOfBuild(const Program& program) {
  Result<std::string> text = ReadTextFile(program.python_folder() + "/interpreter");
  if (!text.ok()) return NotFound("this build has no Python ({})", text.status().message());
  while (text->ends_with('\n')) text->pop_back();
  return text;
}

Result<WorkerProgram> FindWorkerProgram(const Program& program, const std::vector<std::string>& command) {
  const std::string& name = command[0];
  if (!name.ends_with(".py")) {
    LW_ASSIGN_OR_RETURN(const std::string found, program.environment.FindProgram(name));
    return WorkerProgram{found, command};
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return NotFound("script \"{}\": no such file", name);
  const Result<std::string> python = PythonOfBuild(program);
  if (!python.ok()) {
    return NotFound("script \"{}\": {}; wanted the interpreter too: -- python3 {}", name,
                    python.status().message(), name);
  }
  WorkerProgram worker{*python, {*python}};
  worker.args.insert(worker.args.end(), command.begin(), command.end());
  return worker;
}

std::string PythonHint(const Program& program, const std::string& found,
                       const std::function<bool(std::string_view)>& has_said) {
  for (const char* module : {"torch", "leeway", "numpy"}) {
    // The module itself, or a part of it: torchvision is no part of torch.
    if (!has_said(fmt::format("No module named '{}'", module)) &&
        !has_said(fmt::format("No module named '{}.", module)))
      continue;
    const Result<std::string> python = PythonOfBuild(program);
    if (!python.ok() || *python == found) return {};
    return fmt::format(
        "{} cannot import {}; the Python of this build is {}, which `leeway run ... train.py` takes "
        "by itself",
        found, module, *python);
  }
  return {};
}

std::string FlagHint(const std::vector<std::string>& command,
                     const std::function<bool(std::string_view)>& is_flag,
                     const std::function<bool(std::string_view)>& has_said) {
  if (!is_flag || !has_said("error: unrecognized arguments: ")) return {};
  for (const std::string& word : command) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("-") && is_flag(flag) && has_said(" " + word))
      return fmt::format("{} is a flag of leeway run: put it before the script", flag);
  }
  return {};
}

}  // namespace leeway::app
