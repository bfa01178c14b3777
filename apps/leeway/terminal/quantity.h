// Quantities as people write them in flags, and as messages show them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway::app {

// Digits only, no sign.
[[nodiscard]] Result<std::uint64_t> ParseNumber(std::string_view text);
// "4096", "16KiB", "4MiB", "1GiB".
[[nodiscard]] Result<std::uint64_t> ParseBytes(std::string_view text);
// "250ms", "30s", "2m".
[[nodiscard]] Result<std::chrono::milliseconds> ParseTime(std::string_view text);

// The largest unit that shows the value exactly: 4194304 -> "4MiB", 1000 -> "1000".
[[nodiscard]] std::string PrintBytes(std::uint64_t bytes);
[[nodiscard]] std::string PrintTime(std::chrono::milliseconds time);

// Rounded for reading: "1.4 GB", "312 kB", "12.3k", "0:42", "1:02:03".
[[nodiscard]] std::string ShortBytes(double bytes);
[[nodiscard]] std::string ShortCount(double count);
[[nodiscard]] std::string ShortTime(double seconds);
// Of a step: "0.265", "0.0048", "0.00048".
[[nodiscard]] std::string StepSeconds(double seconds);

// "1 server", "2 servers".
[[nodiscard]] std::string Counted(std::uint64_t count, std::string_view noun);

}  // namespace leeway::app
