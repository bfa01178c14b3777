// PluginFlags: --plugin of a command, and the policies that the command knows by it.
#pragma once

#include <string>
#include <vector>

#include "assembly/policies.h"
#include "cli/flag_set.h"

namespace leeway::app {

class PluginFlags {
 public:
  // Loads each plug-in when its flag is taken, which is before any flag that names a policy. Nodes and checks
  // borrow policies(), so this outlives them.
  void Declare(FlagSet& flags);

  [[nodiscard]] const Policies& policies() const { return policies_; }
  // Absolute, for processes that this one starts.
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

 private:
  [[nodiscard]] Status Take(const std::string& path);

  Policies policies_ = Policies::Builtin();
  std::vector<std::string> paths_;
};

}  // namespace leeway::app
