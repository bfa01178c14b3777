// PolicyArguments: the arguments of a policy in its spec, as a factory asks for them: 3 in `ssp:3`.
//
// A factory asks for its arguments in declared order: the n-th argument asked for is also the n-th positional
// one. An argument that was given and never asked for is an error, which the caller of the factory reports. A
// factory keeps no reference to this object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway {

class PolicyArguments {
 public:
  virtual ~PolicyArguments() = default;
  // Without a default an absent argument is an error. Bounds are inclusive.
  [[nodiscard]] virtual Result<std::int64_t> IntInRange(
      std::string_view key, std::int64_t low, std::int64_t high,
      std::optional<std::int64_t> absent = std::nullopt) const = 0;
  [[nodiscard]] virtual Result<double> DoubleInRange(std::string_view key, double low, double high,
                                                     std::optional<double> absent = std::nullopt) const = 0;
  [[nodiscard]] virtual Result<std::string> OneOf(std::string_view key, const std::vector<std::string>& known,
                                                  std::optional<std::string> absent = std::nullopt) const = 0;
  // Any text. Without a default an absent argument is an error that names the wanted one.
  [[nodiscard]] virtual Result<std::string> Text(std::string_view key, std::string_view wanted,
                                                 std::optional<std::string> absent = std::nullopt) const = 0;
  // Key-only arguments (never positional): `release=soft`.
  [[nodiscard]] virtual Result<std::string> KeyedOneOf(std::string_view key,
                                                       const std::vector<std::string>& known,
                                                       std::string absent) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> KeyedIntInRange(std::string_view key, std::int64_t low,
                                                             std::int64_t high,
                                                             std::int64_t absent) const = 0;
};

}  // namespace leeway
