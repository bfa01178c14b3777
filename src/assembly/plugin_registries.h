// AddPlugin: lets a plug-in add its policies to those of a process.
//
// src/process/plugin_library.h finds the plug-in in a shared library; tests hand in a function of their own.
#pragma once

#include "assembly/policies.h"
#include "leeway/plugin.h"
#include "leeway/status.h"

namespace leeway {

using PluginFunction = void (*)(PluginRegistries& registries);

// Adds what `plugin` adds. An error changes nothing: a name that exists or that no spec can hold, no factory,
// an exception. A factory that throws or makes nothing gives an error whenever its policy is asked for.
[[nodiscard]] Status AddPlugin(PluginFunction plugin, Policies& policies);

}  // namespace leeway
