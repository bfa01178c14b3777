// PoliciesWith: the policies of a process, with those of plug-ins (leeway/plugin.h) added.
#pragma once

#include <span>
#include <string>

#include "assembly/policies.h"
#include "leeway/status.h"

namespace leeway {

// Loads a shared library and adds its policies. The library stays loaded until the process ends: policies,
// and errors that they gave, may live as long. An error names the library, and adds nothing.
[[nodiscard]] Status LoadPlugin(const std::string& path, Policies& policies);

// Of Leeway itself and of these libraries, in their order.
[[nodiscard]] Result<Policies> PoliciesWith(std::span<const std::string> plugins);

}  // namespace leeway
