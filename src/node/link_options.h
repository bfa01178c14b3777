// What every role asks of the limits of its connections before it starts.
#pragma once

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {
[[nodiscard]] Status CheckLinkOptions(const LinkOptions& options);
}  // namespace leeway
