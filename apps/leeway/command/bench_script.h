// BenchScript: a bench that is a Python script of this project, found beside the build.
#pragma once

#include <string>
#include <vector>

#include "cli/flag_set.h"
#include "leeway/status.h"
#include "system/environment.h"

namespace leeway::app {

class BenchScript {
 public:
  // `file` is in the project's folder bench. Borrows `program`.
  BenchScript(const Program& program, const std::string& file);

  // --script and --python.
  void Declare(FlagSet& flags);
  // The words that begin its command line: interpreter and script. An error names the flag that helps.
  [[nodiscard]] Result<std::vector<std::string>> Command() const;

 private:
  const Program& program_;
  std::string script_, python_;
};

}  // namespace leeway::app
