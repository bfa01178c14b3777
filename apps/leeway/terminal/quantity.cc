#include "terminal/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/number_from.h"

namespace leeway::app {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kByteUnits{
    {{"GiB", 1ULL << 30}, {"MiB", 1ULL << 20}, {"KiB", 1ULL << 10}}};
// "ms" before "s" and "m": the first suffix that fits is taken.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kTimeUnits{
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}}};

Result<std::uint64_t> Times(std::string_view digits, std::uint64_t unit) {
  LW_ASSIGN_OR_RETURN(const std::uint64_t n, ParseNumber(digits));
  if (n > std::numeric_limits<std::uint64_t>::max() / unit)
    return InvalidArgument("\"{}\" is too large", digits);
  return n * unit;
}

}  // namespace

Result<std::uint64_t> ParseNumber(std::string_view text) {
  if (const auto n = NumberFrom<std::uint64_t>(text)) return *n;
  return InvalidArgument("got \"{}\", wanted a whole number", text);
}

Result<std::uint64_t> ParseBytes(std::string_view text) {
  for (const auto& [suffix, unit] : kByteUnits) {
    if (text.ends_with(suffix)) return Times(text.substr(0, text.size() - suffix.size()), unit);
  }
  if (Result<std::uint64_t> plain = ParseNumber(text); plain.ok()) return plain;
  return InvalidArgument("got \"{}\", wanted a number of bytes such as 65536, 64KiB or 4MiB", text);
}

Result<std::chrono::milliseconds> ParseTime(std::string_view text) {
  for (const auto& [suffix, unit] : kTimeUnits) {
    if (!text.ends_with(suffix)) continue;
    Result<std::uint64_t> time_ms = Times(text.substr(0, text.size() - suffix.size()), unit);
    // A year is longer than any wait and far from overflow.
    if (time_ms.ok() && *time_ms <= 365ULL * 24 * 3'600'000) return std::chrono::milliseconds(*time_ms);
    break;
  }
  return InvalidArgument("got \"{}\", wanted a time such as 250ms, 30s or 2m", text);
}

std::string PrintBytes(std::uint64_t bytes) {
  for (const auto& [suffix, unit] : kByteUnits) {
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{}{}", bytes / unit, suffix);
  }
  return fmt::format("{}", bytes);
}

std::string PrintTime(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms != 0 && ms % 60'000 == 0) return fmt::format("{}m", ms / 60'000);
  if (ms % 1000 == 0) return fmt::format("{}s", ms / 1000);
  return fmt::format("{}ms", ms);
}

std::string ShortBytes(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes / 1e6);
  if (bytes >= 1e3) return fmt::format("{:.1f} kB", bytes / 1e3);
  return fmt::format("{:.0f} B", bytes);
}

std::string ShortCount(double count) {
  if (count >= 1e7) return fmt::format("{:.1f}M", count / 1e6);
  if (count >= 1e4) return fmt::format("{:.1f}k", count / 1e3);
  return fmt::format("{:.0f}", count);
}

std::string ShortTime(double seconds) {
  const auto s = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string StepSeconds(double seconds) {
  if (seconds >= 0.01) return fmt::format("{:.3f}", seconds);
  return fmt::format("{:.{}f}", seconds, seconds >= 0.001 ? 4 : 5);
}

std::string Counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace leeway::app
