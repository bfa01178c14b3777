// CheckRange: a number that a bench is given, within its limits, or an error that names both.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/errors.h"
#include "leeway/status.h"

namespace leeway::bench {

[[nodiscard]] inline Status CheckRange(std::string_view name, std::uint64_t got, std::uint64_t least,
                                       std::uint64_t most) {
  if (got >= least && got <= most) return Status::Ok();
  return InvalidArgument("{}: got {}, wanted {} to {}", name, got, least, most);
}

}  // namespace leeway::bench
