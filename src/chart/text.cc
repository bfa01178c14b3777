#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kEllipsis = "\u2026";

bool IsAllowedInXml(char32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0x7F && code != 0xFFFE && code != 0xFFFF;
}

// Parts of the size of the font. Near DejaVu Sans, which is wider than Segoe UI, Roboto and Helvetica.
double Advance(char32_t code) {
  if (code >= 0x1100) return code >= 0x2000 && code < 0x2E80 ? 0.7 : 1.0;
  if (code >= 0x80) return 0.64;
  const auto c = static_cast<char>(code);
  if (std::string_view(" !',.:;|ijl").find(c) != std::string_view::npos) return 0.32;
  if (std::string_view("()[]{}-/\\fIrt`\"").find(c) != std::string_view::npos) return 0.4;
  if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.93;
  if (c >= 'A' && c <= 'Z') return 0.69;
  return 0.61;
}

}  // namespace

char32_t NextCodePoint(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < static_cast<std::size_t>(more)) return kReplacement;
  char32_t code = first & (0x3FU >> more);
  for (int i = 0; i < more; ++i) {
    const auto next = static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
    if ((next & 0xC0U) != 0x80) return kReplacement;
    code = (code << 6) | (next & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return kReplacement;
  at += static_cast<std::size_t>(more);
  return code;
}

void AppendCodePoint(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code >= 0x10000 ? 3 : code >= 0x800 ? 2 : 1;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[more] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80U | ((code >> (6 * i)) & 0x3FU));
}

std::string Escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = NextCodePoint(text, at);
    switch (code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        AppendCodePoint(out, IsAllowedInXml(code) ? code : kReplacement);
    }
  }
  return out;
}

double TextWidth(std::string_view text, double font_px) {
  double width = 0;
  for (std::size_t at = 0; at < text.size();) width += Advance(NextCodePoint(text, at));
  return width * font_px;
}

std::string Clipped(std::string_view text, double width_px, double font_px) {
  const double ellipsis = Advance(0x2026) * font_px;
  double width = 0;
  std::size_t fits = 0;  // as far as this an ellipsis fits after it
  for (std::size_t at = 0; at < text.size();) {
    if (width + ellipsis <= width_px) fits = at;
    width += Advance(NextCodePoint(text, at)) * font_px;
    if (width > width_px) return std::string(text.substr(0, fits)).append(kEllipsis);
  }
  return std::string(text);
}

std::vector<std::string> Wrapped(std::string_view text, double width_px, double font_px,
                                 std::size_t lines_max) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() + 1 < lines_max) {
    double width = 0;
    std::size_t space = 0;  // the last one that fits
    std::size_t at = 0;
    while (at < text.size() && width <= width_px) {
      if (text[at] == ' ') space = at;
      width += Advance(NextCodePoint(text, at)) * font_px;
    }
    if (width <= width_px || space == 0) break;  // the last line; or a word that has to be cut
    lines.emplace_back(text.substr(0, space));
    text.remove_prefix(space + 1);
  }
  if (!text.empty()) lines.push_back(Clipped(text, width_px, font_px));
  return lines;
}

std::string ClippedTo(std::string_view text, std::size_t characters_max) {
  std::size_t characters = 0;
  std::size_t fits = 0;
  for (std::size_t at = 0; at < text.size(); ++characters) {
    if (characters + 1 <= characters_max) fits = at;
    if (characters == characters_max) return std::string(text.substr(0, fits)).append(kEllipsis);
    NextCodePoint(text, at);
  }
  return std::string(text);
}

}  // namespace leeway::chart
