// Environment: the variables a process is started with. Read once in main, handed on from there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

class Environment {
 public:
  Environment() = default;
  explicit Environment(const char* const* envp);

  [[nodiscard]] std::optional<std::string> Get(std::string_view name) const;
  void Set(std::string_view name, std::string_view value);
  void SetUnlessSet(std::string_view name, std::string_view value);
  // Every variable whose name begins with `prefix`.
  void RemoveAll(std::string_view prefix);
  // "NAME=value", as exec wants them.
  [[nodiscard]] const std::vector<std::string>& entries() const { return entries_; }

  // The file that a shell would run for `name`: itself if it holds a slash, else the first in PATH. An error
  // says why no file was found.
  [[nodiscard]] Result<std::string> FindProgram(const std::string& name) const;

 private:
  std::vector<std::string> entries_;
};

// The program that all commands are part of.
struct Program {
  std::string executable;  // absolute
  Environment environment;
  // Beside the executable: the binding and package that workers import.
  [[nodiscard]] std::string python_folder() const;
};

}  // namespace leeway::app
