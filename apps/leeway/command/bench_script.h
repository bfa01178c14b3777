// BenchScript: a bench that is a Python script of this project, found beside the build, and the folder that
// it works in.
#pragma once

#include <string>
#include <vector>

#include "cli/flag_set.h"
#include "leeway/status.h"
#include "system/environment.h"

namespace leeway::app {

class BenchScript {
 public:
  // `file` is a path in the project, as the help shows it. Borrows `program`.
  BenchScript(const Program& program, const std::string& file);
  ~BenchScript();
  BenchScript(const BenchScript&) = delete;
  BenchScript& operator=(const BenchScript&) = delete;

  // --script and --python.
  void Declare(FlagSet& flags);
  // The words that begin its command line: interpreter and script. An error names the flag that helps.
  [[nodiscard]] Result<std::vector<std::string>> Command() const;
  // Makes a folder in `place` that is gone with everything in it when this is; its path. Once.
  [[nodiscard]] Result<std::string> MakeFolder(const std::string& place);

 private:
  const Program& program_;
  std::string usual_, usual_name_;  // the script without --script: where it is, and what the help calls it
  std::string script_, python_;
  std::string folder_;  // empty: none was made
};

}  // namespace leeway::app
