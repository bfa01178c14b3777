// JsonLine: one JSON object on one line, its fields in the order in which they were added.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace leeway::bench {

// In quotes, with what has to be escaped.
[[nodiscard]] std::string JsonText(std::string_view text);

class JsonLine {
 public:
  JsonLine& Text(std::string_view key, std::string_view value) { return Raw(key, JsonText(value)); }
  // With so many significant digits; null if it is no finite number.
  JsonLine& Real(std::string_view key, double value, int digits = 4);
  JsonLine& Reals(std::string_view key, const std::vector<double>& values, int digits = 4);
  template <std::integral T>
  JsonLine& Whole(std::string_view key, T value) {
    return Raw(key, std::to_string(value));
  }
  // A value that is JSON already.
  JsonLine& Raw(std::string_view key, std::string_view json);
  JsonLine& Each(std::string_view key, const std::vector<std::string>& json);
  // All fields of another one.
  JsonLine& All(const JsonLine& other);
  [[nodiscard]] std::string Done() const { return "{" + fields_ + "}"; }

 private:
  std::string fields_;
};

}  // namespace leeway::bench
