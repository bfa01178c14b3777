#include "chart/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace leeway::chart {
namespace {

struct Step {
  double from;  // magnitudes from here on
  double factor;
  std::string_view name;
};
constexpr std::array<Step, 4> kThousands = {
    {{1e3, 1e3, "k"}, {1e6, 1e6, "M"}, {1e9, 1e9, "G"}, {1e12, 1e12, "T"}}};
constexpr std::array<Step, 6> kTimes = {{{0, 1e-9, "ns"},
                                         {1e-6, 1e-6, "\u00b5s"},
                                         {1e-3, 1e-3, "ms"},
                                         {1, 1, "s"},
                                         {3600, 60, "min"},
                                         {36000, 3600, "h"}}};
constexpr std::array<std::string_view, 5> kPrefixed = {"B", "B/s", "bit/s", "Hz", "FLOP/s"};
constexpr double kPlainMax = 1e15;  // beyond it, and below kPlainMin, with an exponent
constexpr double kPlainMin = 1e-4;
constexpr std::string_view kNothing = "\u2013";

// The decimal exponent after rounding to so many digits: 3 for 999.96 with three digits.
int Exponent(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* first = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(first, text.data() + text.size(), exponent);
  return exponent;
}

// The magnitude that a value has once it is rounded, so that 999,960 is 1M and not 1,000k.
double Rounded(double value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits - 1);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

std::string WithoutTrailingZeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// 1e-4 where the library says 1e-04.
std::string Scientific(double value, int digits) {
  std::string text = fmt::format("{:.{}e}", value, digits - 1);
  const std::size_t e = text.find('e');
  return fmt::format("{}e{}", WithoutTrailingZeros(text.substr(0, e)), Exponent(value, digits));
}

std::string Significant(double value, int digits) {
  const double magnitude = std::abs(value);
  if (magnitude == 0) return "0";
  if (magnitude >= kPlainMax || magnitude < kPlainMin) return Scientific(value, digits);
  return WithoutTrailingZeros(FormatFixed(value, std::max(0, digits - 1 - Exponent(value, digits))));
}

std::string Joined(std::string number, const DisplayUnit& shown) {
  if (number != "0") number += shown.suffix;
  if (!shown.symbol.empty()) number += " " + shown.symbol;
  return number;
}

}  // namespace

DisplayUnit UnitFor(double magnitude, std::string_view unit) {
  magnitude = std::abs(magnitude);
  if (!std::isfinite(magnitude)) return {.factor = 1, .suffix = "", .symbol = std::string(unit)};
  if (unit == "%") return {.factor = 0.01, .suffix = "", .symbol = "%"};
  if (unit == "s") {
    if (magnitude == 0) return {.factor = 1, .suffix = "", .symbol = "s"};
    const Step* best = kTimes.data();
    for (const Step& step : kTimes) {
      if (magnitude >= step.from) best = &step;
    }
    return {.factor = best->factor, .suffix = "", .symbol = std::string(best->name)};
  }
  const bool prefixed = std::find(kPrefixed.begin(), kPrefixed.end(), unit) != kPrefixed.end();
  DisplayUnit shown{.factor = 1, .suffix = "", .symbol = std::string(unit)};
  if (magnitude >= kPlainMax || (!prefixed && magnitude < 1e4)) return shown;
  for (const Step& step : kThousands) {
    if (magnitude < step.from) break;
    shown.factor = step.factor;
    if (prefixed) {
      shown.symbol = fmt::format("{}{}", step.name, unit);
    } else {
      shown.suffix = std::string(step.name);
    }
  }
  return shown;
}

std::string FormatFixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);  // -0.0
  const std::size_t first = text.front() == '-' ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string FormatIn(double value, const DisplayUnit& shown, int digits) {
  if (!std::isfinite(value)) return FormatQuantity(value, "", digits);
  return Joined(Significant(value / shown.factor, digits),
                {.factor = 1, .suffix = shown.suffix, .symbol = ""});
}

std::string FormatNumber(double value, int digits) { return FormatQuantity(value, "", digits); }

std::string FormatQuantity(double value, std::string_view unit, int digits) {
  if (std::isnan(value)) return std::string(kNothing);
  if (std::isinf(value)) return value > 0 ? "\u221e" : "-\u221e";
  double magnitude = Rounded(value, digits);
  // 9,999 has all its digits before the point, so nothing is rounded.
  if (std::abs(value) < 1e4 && std::abs(magnitude) >= 1e4) magnitude = value;
  const DisplayUnit shown = UnitFor(magnitude, unit);
  return Joined(Significant(value / shown.factor, digits), shown);
}

std::string FormatSpread(double mean, double spread, std::string_view unit) {
  if (!std::isfinite(mean) || !std::isfinite(spread) || std::abs(mean) >= kPlainMax)
    return FormatQuantity(mean, unit);
  const DisplayUnit shown = UnitFor(Rounded(std::max(std::abs(mean), std::abs(spread)), 3), unit);
  const double small = std::abs(spread) / shown.factor;
  if (small < 1e-12) {  // nothing says how exact the mean is
    return fmt::format("{} \u00b1 0{}{}", FormatIn(mean, shown, 4), shown.symbol.empty() ? "" : " ",
                       shown.symbol);
  }
  const int decimals = std::clamp(1 - Exponent(small, 2), 0, 9);
  const std::string exact = FormatFixed(mean / shown.factor, decimals);
  return Joined(fmt::format("{}{} \u00b1 {}", exact, shown.suffix, FormatFixed(small, decimals)), shown);
}

}  // namespace leeway::chart
