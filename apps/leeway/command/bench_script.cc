#include "command/bench_script.h"

#include <unistd.h>

#include <filesystem>

#include "base/errors.h"
#include "system/text_file.h"

namespace leeway::app {

BenchScript::BenchScript(const Program& program, const std::string& file)
    : program_(program),
      // Built in <project>/build; elsewhere --script says where it is.
      script_(std::filesystem::path(program.executable).parent_path().parent_path() / "bench" / file) {}

void BenchScript::Declare(FlagSet& flags) {
  flags.Text("--script", "FILE", script_, "the bench");
  flags.Text("--python", "FILE", python_,
             "the interpreter that has torch [default: the one this was built with]");
}

Result<std::vector<std::string>> BenchScript::Command() const {
  std::string python = python_;
  if (python.empty()) {
    const std::string noted = program_.python_folder() + "/interpreter";
    const Result<std::string> found = ReadTextFile(noted);
    if (!found.ok())
      return NotFound("no interpreter noted at build time ({}); name one with --python", noted);
    python = found->substr(0, found->find('\n'));
  }
  if (access(script_.c_str(), R_OK) != 0)
    return NotFound("cannot read the bench {}; name it with --script", script_);
  return std::vector<std::string>{python, script_};
}

}  // namespace leeway::app
