#include "role/plugin_flags.h"

#include <filesystem>
#include <system_error>

#include "base/errors.h"
#include "process/plugin_library.h"

namespace leeway::app {

void PluginFlags::Declare(FlagSet& flags) {
  flags.EachFirst(
      "--plugin", "FILE", [this](const std::string& path) { return Take(path); },
      "a shared library that adds policies of your own; docs/adding-a-policy.md makes one");
}

Status PluginFlags::Take(const std::string& path) {
  // Workers get the paths in one variable.
  if (path.find(':') != std::string::npos)
    return InvalidArgument("got \"{}\", wanted a path without a colon", path);
  LW_RETURN_IF_ERROR(LoadPlugin(path, policies_));
  std::error_code error;
  paths_.push_back(std::filesystem::absolute(path, error).string());
  return Status::Ok();
}

}  // namespace leeway::app
