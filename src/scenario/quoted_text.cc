#include "scenario/quoted_text.h"

#include <fmt/format.h>

#include <cstdint>

namespace leeway::scenario {
namespace {

constexpr std::uint32_t kNoCodePoint = 0xFFFFFFFF;

// Returns the code point at `at` and moves `at` behind it; kNoCodePoint for an invalid byte.
std::uint32_t TakeCodePoint(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < more) return kNoCodePoint;
  std::uint32_t code = first & (0x3FU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    const auto next = static_cast<unsigned char>(text[at + i]);
    if ((next & 0xC0U) != 0x80) return kNoCodePoint;
    code = (code << 6U) | (next & 0x3FU);
  }
  // An overlong form, half of a UTF-16 pair, or a code beyond the last.
  constexpr std::uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[more] || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return kNoCodePoint;
  at += more;
  return code;
}

bool IsControl(std::uint32_t code) { return code < 0x20 || code == 0x7F; }

}  // namespace

bool IsPlainText(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = TakeCodePoint(text, at);
    if (code == kNoCodePoint || IsControl(code)) return false;
  }
  return true;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = TakeCodePoint(text, at);
    if (code == kNoCodePoint) {
      quoted += "\\uFFFD";
    } else if (code > 0xFFFF) {
      quoted += fmt::format("\\U{:08X}", code);
    } else if (code > 0x7F || IsControl(code)) {
      quoted += fmt::format("\\u{:04X}", code);
    } else {
      if (code == '"' || code == '\\') quoted += '\\';
      quoted += static_cast<char>(code);
    }
  }
  return quoted + "\"";
}

}  // namespace leeway::scenario
