// CheckLinkOptions: checks the limits of connections. Every role calls it before it starts.
#pragma once

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {
[[nodiscard]] Status CheckLinkOptions(const LinkOptions& options);
}  // namespace leeway
