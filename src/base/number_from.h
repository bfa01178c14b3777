// NumberFrom: the number that a whole text is. It accepts no locale, no leading '+', no spaces and no empty
// text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace leeway {

template <typename Number>
[[nodiscard]] std::optional<Number> NumberFrom(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace leeway
