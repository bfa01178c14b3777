#include "toml/toml_node.h"

#include <filesystem>
#include <fstream>

#include "base/errors.h"

namespace leeway::app {
namespace {

constexpr std::size_t kFileBytesMax = 1U << 20;

// The parser's check for white space beyond ASCII does not know every character (toml++ 3.3). Nothing that a
// job file says needs one; whole lines of comment may have what they like.
Status CheckAscii(std::string_view text, const std::string& name) {
  bool comment = false, blank = true;  // of the line so far
  std::uint32_t line = 1;
  for (const char c : text) {
    if (c == '\n') {
      comment = false;
      blank = true;
      ++line;
      continue;
    }
    if (blank && c == '#') comment = true;
    if (c != ' ' && c != '\t') blank = false;
    if (!comment && (static_cast<unsigned char>(c) & 0x80U) != 0) {
      return InvalidArgument("{} line {}: got a character that is not ASCII, wanted such in comments only",
                             name, line);
    }
  }
  return Status::Ok();
}

}  // namespace

std::uint32_t LineOf(const toml::node& node) { return node.source().begin.line; }

// How a message calls a value.
std::string Shown(const toml::node& node) {
  constexpr std::size_t kShownMax = 100;
  if (const auto text = node.value<std::string>(); text && node.is_string()) {
    return text->size() <= kShownMax ? fmt::format("text \"{}\"", *text)
                                     : fmt::format("text of {} bytes", text->size());
  }
  if (node.is_integer()) return fmt::format("the number {}", *node.value<std::int64_t>());
  if (node.is_floating_point()) return fmt::format("the number {}", *node.value<double>());
  if (node.is_boolean()) return *node.value<bool>() ? "true" : "false";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a section";
  return "a date or time";
}

Result<std::string> ReadTomlText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in && !std::filesystem::exists(path)) return NotFound("{}: no such file, wanted a TOML file", path);
  if (!in) return InvalidArgument("cannot read \"{}\", wanted a TOML file", path);
  std::string text;
  text.resize(kFileBytesMax + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return InvalidArgument("cannot read \"{}\", wanted a TOML file", path);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

Result<toml::table> ParseToml(std::string_view text, const std::string& name) {
  if (text.size() > kFileBytesMax) {
    return InvalidArgument("{}: got {} bytes, wanted at most {}", name, text.size(), kFileBytesMax);
  }
  LW_RETURN_IF_ERROR(CheckAscii(text, name));
  toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return InvalidArgument("{} line {}: {}", name, error.source().begin.line, error.description());
  }
  return std::move(parsed).table();
}

}  // namespace leeway::app
