#include "system/environment.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "base/split.h"

namespace leeway::app {
namespace {

bool IsEntryOf(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

bool IsProgram(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Environment::Environment(const char* const* envp) {
  for (; envp != nullptr && *envp != nullptr; ++envp) entries_.emplace_back(*envp);
}

std::optional<std::string> Environment::Get(std::string_view name) const {
  for (const std::string& entry : entries_) {
    if (IsEntryOf(entry, name)) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

void Environment::Set(std::string_view name, std::string_view value) {
  std::erase_if(entries_, [name](const std::string& entry) { return IsEntryOf(entry, name); });
  entries_.push_back(fmt::format("{}={}", name, value));
}

void Environment::SetUnlessSet(std::string_view name, std::string_view value) {
  if (!Get(name)) Set(name, value);
}

void Environment::RemoveAll(std::string_view prefix) {
  std::erase_if(entries_, [prefix](const std::string& entry) { return entry.starts_with(prefix); });
}

Result<std::string> Environment::FindProgram(const std::string& name) const {
  if (name.find('/') != std::string::npos) {
    if (IsProgram(name)) return name;
    std::error_code ignored;
    const bool exists = std::filesystem::exists(name, ignored);
    return NotFound("command \"{}\": {}", name, exists ? "not an executable file" : "no such file");
  }
  const std::string path = Get("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (const std::string& folder : SplitAt(path, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (IsProgram(candidate)) return candidate;
  }
  return NotFound("command \"{}\": not found in PATH ({})", name, path);
}

std::string Program::python_folder() const {
  return (std::filesystem::path(executable).parent_path() / "python").string();
}

}  // namespace leeway::app
