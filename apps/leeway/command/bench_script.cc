#include "command/bench_script.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "launch/worker_program.h"

namespace leeway::app {

BenchScript::BenchScript(const Program& program, const std::string& file)
    : program_(program),
      // The program is built in <project>/build; elsewhere --script says where the file is.
      usual_(std::filesystem::path(program.executable).parent_path().parent_path() / file),
      usual_name_(file) {}

BenchScript::~BenchScript() {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void BenchScript::Declare(FlagSet& flags) {
  flags.Text("--script", "FILE", script_, "the bench [default: " + usual_name_ + " of the project]");
  flags.Text("--python", "FILE", python_,
             "the interpreter that has torch [default: the one this was built with]");
}

Result<std::vector<std::string>> BenchScript::Command() const {
  std::string python = python_;
  if (python.empty()) {
    const Result<std::string> found = PythonOfBuild(program_);
    if (!found.ok()) return NotFound("{}; name one with --python", found.status().message());
    python = *found;
  }
  const std::string& script = script_.empty() ? usual_ : script_;
  if (access(script.c_str(), R_OK) != 0)
    return NotFound("cannot read the bench {}; name it with --script", script);
  return std::vector<std::string>{python, script};
}

Result<std::string> BenchScript::MakeFolder(const std::string& place) {
  std::string path = place + "/leeway-bench-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return ResourceExhausted("cannot make the folder {}: {}", path, std::strerror(errno));
  return folder_ = path;
}

}  // namespace leeway::app
