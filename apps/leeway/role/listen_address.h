// Where a role may listen. Nothing is encrypted, so this host is the default and the rest must be asked for.
#pragma once

#include <string>

#include "leeway/status.h"

namespace leeway::app {

// "host:port" with a port from 0 to 65535, where a host other than loopback needs `bind_any`; or
// "local:name".
[[nodiscard]] Status CheckListen(const std::string& address, bool bind_any);
// The same for a role that tells others where it is: "0.0.0.0" is an address that nobody can connect to.
[[nodiscard]] Status CheckListenAndTell(const std::string& address, bool bind_any);

}  // namespace leeway::app
