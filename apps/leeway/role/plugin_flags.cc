#include "role/plugin_flags.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "process/plugin_library.h"

namespace leeway::app {

void PluginFlags::Declare(FlagSet& flags) {
  flags.EachFirst(
      "--plugin", "FILE", [this](const std::string& path) { return Take(path); },
      "a shared library that adds policies of your own; docs/adding-a-policy.md makes one");
}

Status PluginFlags::Take(const std::string& path) {
  std::error_code error;
  std::string whole = std::filesystem::absolute(path, error).string();
  if (error) whole = path;  // LoadPlugin refuses it with the reason
  // Workers get the paths in one variable.
  if (whole.find(':') != std::string::npos)
    return InvalidArgument("got \"{}\", wanted a path without a colon", whole);
  LW_RETURN_IF_ERROR(LoadPlugin(path, policies_));
  paths_.push_back(std::move(whole));
  return Status::Ok();
}

}  // namespace leeway::app
