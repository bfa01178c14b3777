#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace leeway {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: the first byte begins no UTF-8
};

// The first character of `text`. REQUIRES: not empty.
Character Decode(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  // 0x80 to 0xC1 begin no character, or an overlong one; no character begins above 0xF4.
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return {};
    code = code << 6 | (at(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || surrogate) return {};
  return {code, bytes};
}

bool IsControl(std::uint32_t code) {
  const bool c0_or_c1 = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool separates_lines = code == 0x2028 || code == 0x2029;
  const bool turns_direction = code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                               (code >= 0x2066 && code <= 0x2069);
  return c0_or_c1 || separates_lines || turns_direction || code == 0xFEFF;
}

std::string Escape(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string Print(std::string_view text, std::size_t bytes_max, bool keep_lines) {
  if (text.size() <= bytes_max && IsPlain(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const Character next = Decode(text);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    std::string piece(text.substr(0, bytes));
    if (next.bytes == 0) {
      piece = Escape(static_cast<unsigned char>(text[0]));
    } else if (IsControl(next.code) && !(keep_lines && text.starts_with("\n  "))) {
      piece = Escape(next.code);
    }
    if (out.size() + piece.size() > bytes_max) return out + "...";
    out += piece;
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string Printable(std::string_view text, std::size_t bytes_max) { return Print(text, bytes_max, false); }

std::string PrintableLines(std::string_view text, std::size_t bytes_max) {
  return Print(text, bytes_max, true);
}

}  // namespace leeway
