// PageNumber: a number for a page document.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace leeway::app {

// Six significant digits, which make the page half as long; no reader sees more. Null for a NaN.
[[nodiscard]] inline nlohmann::ordered_json PageNumber(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  const double rounded = std::round(value * scale) / scale;
  return std::isfinite(rounded) ? nlohmann::ordered_json(rounded) : nlohmann::ordered_json(value);
}

}  // namespace leeway::app
