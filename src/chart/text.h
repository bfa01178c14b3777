// Text for a picture or a page: escaped, cut to a width, measured without a font.
//
// Names come from scenario files and users, so nothing here trusts them: bytes that are not UTF-8, and
// characters that XML does not allow, become U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leeway::chart {

// Returns the code point at `at` and moves `at` past it; U+FFFD for an invalid byte. REQUIRES: at <
// text.size().
char32_t NextCodePoint(std::string_view text, std::size_t& at);
void AppendCodePoint(std::string& out, char32_t code);

// Escapes a text for the content and the quoted attributes of XML and HTML.
std::string Escaped(std::string_view text);

// Estimates the width of a text in pixels, on the wide side of the usual sans-serif fonts, because the
// reader's font is unknown.
double TextWidth(std::string_view text, double font_px);

// Returns the text, or as much of its beginning as fits into `width_px`, and an ellipsis.
std::string Clipped(std::string_view text, double width_px, double font_px);
// Breaks the text at spaces into lines that fit into `width_px`. Cuts it after `lines_max` lines, with an
// ellipsis.
std::vector<std::string> Wrapped(std::string_view text, double width_px, double font_px,
                                 std::size_t lines_max);
// The same as Clipped with a limit in characters.
std::string ClippedTo(std::string_view text, std::size_t characters_max);

}  // namespace leeway::chart
