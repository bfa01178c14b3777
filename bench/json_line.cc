#include "json_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace leeway::bench {
namespace {

std::string JsonReal(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : "null";
}

}  // namespace

std::string JsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

JsonLine& JsonLine::Real(std::string_view key, double value, int digits) {
  return Raw(key, JsonReal(value, digits));
}

JsonLine& JsonLine::Reals(std::string_view key, const std::vector<double>& values, int digits) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const double value : values) texts.push_back(JsonReal(value, digits));
  return Each(key, texts);
}

JsonLine& JsonLine::Raw(std::string_view key, std::string_view json) {
  fields_ += fmt::format("{}{}:{}", fields_.empty() ? "" : ",", JsonText(key), json);
  return *this;
}

JsonLine& JsonLine::Each(std::string_view key, const std::vector<std::string>& json) {
  return Raw(key, fmt::format("[{}]", fmt::join(json, ",")));
}

JsonLine& JsonLine::All(const JsonLine& other) {
  if (other.fields_.empty()) return *this;
  fields_ += (fields_.empty() ? "" : ",") + other.fields_;
  return *this;
}

}  // namespace leeway::bench
